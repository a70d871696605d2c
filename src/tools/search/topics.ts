/** Topics of tools, each with the words that people use for it. A query with some of the words matches tools with others. */

const table = `
travel trip journey vacation holiday tour tourism itinerary destination traveler abroad sightseeing attraction landmark hotel flight explore visit getaway backpack cruise passport visa
flight airline airport airfare fare departure arrival boarding plane aircraft fly layover luggage baggage gate runway
train railway rail station metro subway bus transit timetable departure platform commute schedule
hotel accommodation lodging room stay night resort hostel airbnb guest check_in host
map route direction distance location place coordinate latitude longitude address navigation nearby mile kilometer geocode geography road street drive walk region area gps
parking traffic road highway route drive car
car vehicle automobile truck dealer drive driver rental mileage fuel engine motor auto suv charging
restaurant dining food menu dinner lunch breakfast cuisine eat cafe bar pizza delivery chef
recipe cook ingredient meal dish kitchen dinner food bake cuisine cocktail drink flavor dessert
diet nutrition nutrient calorie protein vitamin weight healthy meal food vegan
fitness workout exercise gym training run muscle health yoga step
health medical medicine doctor physician symptom hospital patient disease illness treatment clinical clinic medication therapy diagnosis pain
mental wellness stress anxiety meditation mindfulness sleep habit mood therapy
biology gene genetic genome variant protein molecule cell dna mutation species
clinical trial drug patient study cancer therapy
chemistry chemical compound molecule reaction element
shopping shop store product price buy purchase deal brand discount cheap gift retail merchandise cart checkout amazon
coupon discount deal promo voucher offer sale saving bargain price cheap code
fashion clothing clothes dress shoe outfit wear style wardrobe apparel jewelry
beauty makeup cosmetic skin skincare hair
furniture decor interior room house home decorate
home house property real_estate apartment rent rental mortgage listing estate realtor bedroom neighborhood
money finance financial bank account budget saving spend payment loan credit debt wealth retirement
stock market share price dividend portfolio investor investment trading trade ticker earnings equity etf fund bond option nasdaq
crypto cryptocurrency bitcoin ethereum token coin wallet blockchain nft defi swap chain web3 mining
currency exchange rate convert forex dollar euro yen pound
company business corporate earnings revenue filing income balance profit competitor industry startup founder sector
tax accounting invoice expense bookkeeping receipt payroll deduction
weather temperature forecast rain wind humidity snow storm climate degree sunny cloud meteorology outdoor
air pollution quality environment climate carbon emission energy sustainability eco green
news headline article event politics press journalist story media breaking current_event happening
sport game team league match score player season football basketball soccer baseball hockey tennis nba nfl championship tournament athlete fixture
movie film show tv television watch series actor director cinema stream streaming netflix episode anime genre
theater broadway musical play show performance stage
music song artist album playlist track band lyrics listen concert singer melody spotify genre
audio sound beat tempo pitch wave frequency music spectrum record noise
podcast episode audio listen interview host
book novel author read reading literature library chapter ebook publisher writer
game gaming player level character hero champion match esports play puzzle quest steam
game adventure story play character world quest roleplay imagine fantasy
joke fun humor funny laugh entertain meme comedy
art image picture draw drawing paint painting style artist generate creative illustration canvas museum
photo camera image picture photography crop resize pixel filter background png jpg
video youtube channel subtitle caption clip transcript watch creator footage record edit
education learn learning student course teacher school lesson tutor study exam class college university teaching academic curriculum
quiz question test trivia exam flashcard answer
child kid toy baby parent school bedtime toddler preschool
language translate translation english spanish french german chinese word grammar vocabulary speak foreign pronunciation phrase
word dictionary definition meaning synonym spelling vocabulary etymology
math mathematics equation formula calculate algebra number solve arithmetic geometry calculus add multiply divide subtract
physics science experiment theory simulation
research paper study journal abstract citation academic scholar scientific publication author arxiv pubmed literature doi preprint
law legal court regulation legislation contract attorney lawyer compliance statute case rights
government policy public federal congress census statistic open_data agency
patent invention trademark intellectual
job career resume hire hiring recruit recruiter interview candidate salary applicant skill position employment cv employer
marketing campaign brand advertising ad customer audience lead growth sales conversion promote
social post tweet follower like share profile feed hashtag facebook instagram twitter linkedin tiktok reddit influencer
email mail message send inbox reply mailbox recipient attachment subject draft gmail outlook newsletter
message chat channel conversation user room slack discord telegram whatsapp teams dm
meeting calendar schedule event appointment availability attendee invite slot agenda reminder
task todo project deadline assignee board milestone progress priority plan jira trello asana backlog sprint
note document write page notebook notion obsidian markdown jot knowledge
document word docx paragraph heading page format text footnote margin font
spreadsheet excel cell sheet formula workbook column row table xlsx pivot
slide presentation powerpoint ppt deck layout template placeholder theme
pdf page document merge extract text scan ocr form
chart graph plot bar pie line scatter axis data visualize visualization histogram
diagram flowchart mermaid uml sequence architecture mind_map draw
data dataset analyze analysis statistic table csv column dataframe insight
statistics statistical regression correlation mean variance distribution probability hypothesis
file directory folder path disk read write filesystem content rename text line
terminal command shell process execute script run bash console session
code program programming function class script developer software snippet refactor coding algorithm python javascript typescript java
git repository commit branch merge diff clone stage stash history
github gitlab repository issue pull_request commit code review fork workflow
package dependency library version npm pip pypi maven install registry module release license
test testing unit coverage assert qa spec
build compile deploy deployment pipeline release ci workflow hosting
bug error exception crash stack debug debugging issue trace breakpoint fix
log error trace monitor alert incident metric observability dashboard uptime
database sql query table schema row record mysql postgres sqlite select
document collection mongodb record database aggregate
key value redis cache store set get
vector embedding semantic similarity search retrieval chunk rag
cloud aws azure instance bucket server region lambda storage gcp
container docker image kubernetes pod cluster volume deployment namespace
network ip dns domain port ping whois traffic router subnet
security vulnerability password threat scan malware encryption attack exploit cve phishing
api endpoint request http rest response openapi header curl webhook
web page website url crawl scrape html content link fetch markdown
browser page click navigate screenshot element selector tab form fill button dom
search web internet google online result engine bing query find lookup
knowledge memory entity relation graph observation node remember recall store
wikipedia encyclopedia article fact history topic summary knowledge
history historical ancient war century civilization empire
ai model prompt chatbot assistant llm gpt openai agent intelligence machine_learning
model dataset huggingface training inference space machine
time date timezone clock hour minute day convert
unit convert conversion measurement length weight meter inch
space planet astronomy star satellite nasa moon orbit galaxy
horoscope astrology zodiac tarot fortune birth sign psychic reading
religion bible quran verse prayer scripture god church
pet animal dog cat breed veterinary wildlife
plant garden flower soil seed crop agriculture farm
event concert ticket festival show venue party attend
gift present birthday occasion anniversary surprise
dating relationship love partner romantic
phone call sms text number contact telephone mobile dial
smart_home device light sensor switch thermostat iot lamp automation heating warm cold blind curtain room house
ui component design button layout css figma interface frontend react
color palette theme design hex gradient
3d model scene object render blender mesh material texture
seo keyword rank traffic website backlink google page optimize
customer support ticket crm helpdesk lead sales deal
order shipping tracking delivery package parcel shipment warehouse logistics
payment card charge subscription refund stripe invoice checkout
insurance policy coverage claim premium
blog post article write writing content seo copywriting publish
writing essay text style tone paraphrase grammar rewrite proofread draft
story character plot novel fiction write
poem poetry rhyme verse lyrics
qr barcode code link scan
link url short shorten redirect
personality psychology trait behavior emotion
charity donation nonprofit cause volunteer
random dice number generate pick choose
hash encode decode base64 encrypt decrypt cipher checksum
screen mouse keyboard desktop window application computer click
reservation book booking table appointment reserve
review rating feedback opinion recommendation customer
startup idea business entrepreneur pitch pricing product
politics political election vote president parliament senate democracy party government diplomacy minister
disaster emergency earthquake flood hurricane wildfire tornado tsunami rescue
energy electricity power solar battery grid utility electric
manufacture factory industrial machine robot engineering cad
ship vessel boat port maritime sail ocean sea
hike hiking trail camp camping outdoor mountain park nature climb ski
wine beer cocktail spirit whiskey alcohol
family ancestor genealogy relative
logo brand icon slogan tagline
meeting transcript recording minutes zoom
form survey questionnaire poll
file convert converter conversion pdf docx
compress zip archive tar unpack
user permission authentication login token oauth sso
queue topic stream kafka publish subscribe broker
schedule cron job timer recurring reminder alarm
workflow automation automate pipeline zapier
mobile app android ios emulator simulator apk xcode
engine scene node sprite godot unity asset
hardware serial arduino firmware board sensor
accessibility performance audit lighthouse
json xml yaml parse schema validate
symbol definition server ide
sentiment emotion classify nlp
ocr recognize recognition vision detect face
voice speech tts transcribe synthesize speak narrate speaker
animate animation avatar montage
think thinking reason reasoning brainstorm decision idea
productivity habit goal routine motivation
economy economic gdp inflation indicator macro unemployment
web app application builder website no_code landing
`;

/** A word may be in several topics. `real_estate` is two consecutive words. */
export const topicTable: readonly string[][] = table
  .split("\n")
  .map((line) => line.split(" ").filter(Boolean))
  .filter((words) => words.length > 0);

/** Words of requests that mean something more general in tools: a request for pizza wants a restaurant, but not the reverse. */

/** Before the colon the words of requests, after it those of tools. `how_much` is two consecutive words. */
const table = `
how_much how_expensive: price cost amount balance rate
how_many: count number total statistics
how_long: duration time length
how_far how_near: distance route
how_big how_large how_heavy: size info metadata
how_old: age created date
how_tall how_high how_steep: height elevation
how_fast how_slow: speed performance time
how_warm how_cold how_hot: weather temperature
how_often: frequency count
what_time which_time: time clock
what_day which_day what_date: date time calendar
what_happened what_changed: log history diff changes
who_is who_was who_are: user profile member person
who_wrote who_made who_did who_changed who_touched: author user history blame log
who_owns who_registered: owner registration
where_is where_are where_does: location find search address geocode place
is_there are_there do_we do_i did_we did_i did_anyone did_anybody has_anyone: search find list
is_it are_they: status check
which_one: list compare

get_rid throw_away throw_out take_away cross_out: delete remove
look_up look_for: search find get
look_at look_into: view read get inspect
put_in put_into: add insert
put_back: restore
set_up: create configure install
bring_up pull_up: open get search show
carry_out: run execute
find_out: search get check
figure_out work_out: calculate solve analyze
sign_up: register create user
sign_off: approve
go_to head_to: navigate open
go_back: back previous undo revert
go_through: read list iterate
hand_in hand_over: submit
turn_into turn_in make_into: convert transform
turn_up: increase set
turn_down: decrease set reject
fill_in fill_out: fill form
hang_up: end call
let_know: notify send
keep_track keep_an: track monitor
make_sure: check verify ensure
make_up: generate
note_down write_down jot_down: note create write
point_out: highlight
print_out: print output
read_out read_aloud: speech speak tts
speed_up: optimize performance index
slow_down: throttle
spell_check: grammar spelling
step_by: sequential
switch_to: select set context use
take_back: revert undo refund
talk_to chat_with: message chat ask
think_through think_about: thinking reason sequential
thumbs_up thumb_up: reaction like upvote
walk_through: crawl explain
wrap_up: summary finish complete
zip_up: compress archive
right_now: current
so_far: history current
money_back: refund
real_time: live current latest
year_old: age
per_cent: percentage
well_known: popular famous
open_source: repository
best_selling best_seller top_rated highest_rated: top rank popular rating
near_me close_by close_to next_to: nearby place location
phone_number: contact phone
bank_account: account balance
user_name: user
web_page web_site home_page: page url html
source_code: code file repository
slide_show slide_deck power_point: presentation slide
press_release: news article
log_file error_log: log read
error_message: error log console
stack_trace: error exception event
unit_test: test run
feature_flag: toggle config setting
access_right: permission role
word_count: count
out_of: absence away

google googling bing yandex: search web
internet online: web search
website webpage site homepage: page url html content web navigate
surf browse visit: navigate browser web
hyperlink address: url link
blog article post story: content text web page
fact trivia: search wikipedia knowledge
biography born inventor philosopher president king queen emperor scientist: wikipedia search article
history historical revolution century ancient war: wikipedia search article
encyclopedia lexicon: wikipedia article search
paper preprint study literature: search article arxiv research document
professor researcher scholar: author paper research
thesis dissertation: document paper
newspaper magazine gazette press: news article
bbc cnn reuters: news
happening happened gossip: news event trending
buzz viral hype: trending popular hot
bestseller hit chart: rank popular top

folder dir: directory path
disk drive desktop: file filesystem directory storage
doc docs docx letter memo: document file
jpeg jpg png gif bmp tiff webp: image picture file
mp3 wav flac ogg: audio file sound
mp4 mov avi mkv webm: video file
txt readme: file text
xls xlsx workbook worksheet: excel sheet spreadsheet
tab: sheet page window browser
ppt pptx deck keynote: presentation slide powerpoint
csv tsv: table data file
yaml toml ini: config file
jar gradle: dependency package library
zip tar gz rar: archive compress
rename relocate shift: move file
duplicate clone: copy
swap substitute: replace edit update
overwrite: write
line: edit text
wildcard glob regex: pattern search
permitted allowed: access list permission
nested tree hierarchy recursive: tree structure directory
modified altered changed: edit update history status diff
timestamp: date time modified

bug defect glitch: issue ticket error report
crash crashing: error issue exception event
ticket: issue
pr: pull request merge
ci cd: pipeline build status check workflow action run
repo codebase: repository project
master main trunk: branch
push pushed: commit
landed land: merge
fork: copy repository
stash shelve: save changes
staged unstaged untracked: status diff git
blame: history author log
developer programmer coder contributor maintainer: user member author
remark feedback opinion: comment review
relabel retitle: update label
shipped ship: release deploy version
differ difference: compare changes diff
refactor rewrite: edit replace
lint: style check code
compile: build
deploy deployment rollout: release publish create
localhost: port forward server
snippet: code example
module: package library
breakpoint: debug

docker: container image
pod k8s kubernetes kubectl: container cluster resource
replica: scale
grow shrink: scale resize
drain cordon: node
helm chart: install
machine vm server: instance host compute node
hanging stuck frozen unresponsive: process stop end kill
pid cpu ram: process system list
bash zsh powershell terminal cmd sudo: command shell execute process run
uptime outage down: status health monitor
secret token: key credential
certificate: vault key
cron nightly hourly daily weekly periodic recurring: schedule trigger
serverless: function edge
blob: object storage file
s3 bucket: storage object
dns: domain record
backend: server log function service
job: queue task run workflow
rotate: update set replace

sql: query execute statement table
table: database schema
column: field schema property describe table
row: data query record
entry: record document item
mongo: mongodb collection document
postgres postgresql mysql sqlite mariadb oracle: database query table
lookup: query search index
pipeline: aggregate
sum average median: aggregate statistics calculate
bulk batch: multiple many

client buyer shopper: customer
subscriber member: subscription customer user
bill billed: invoice charge
charge: payment
contested chargeback: dispute
voucher promo: coupon discount
money cash fund: balance payment amount
plan tier: price subscription
salesperson: sales deal
deal opportunity: crm object sales
crm: contact deal company object
prospect: lead contact
call phoned: engagement contact phone
cell: number contact phone
colleague coworker teammate staff: team user member
room: channel
conversation: thread message
answered respond: reply message comment
emoji heart: reaction
announce announcement: post message
wiki: document page
heading: title text block
paragraph sentence bullet: block text
bold italic underline underlined: format text style
under: parent move
chapter section: outline structure heading
locked unlock password: protect unprotect remove
diary: calendar event schedule
gap busy: free availability slot
holiday vacation absent sick: absence away leave
wake: alarm remind reminder timer
lunch dinner coffee breakfast: appointment event restaurant meeting
dentist: appointment
birthday anniversary: date event
forget: remind reminder delete memory

photograph snapshot: screenshot capture image
button: click
press tap hit: click press
dropdown combobox: select option
checkbox radio: select click
textbox input: fill type
enter: fill text type
popup dialog prompt: dialog handle
cookie: browser
javascript js: script evaluate code
http ajax xhr: network request
slow fast loading: performance trace
leak: memory heap
tablet iphone android smartphone: device emulate mobile
markup tag: html

graph diagram: chart generate
plot visualise visualize visually: chart graph generate
donut slice share: pie chart percentage
spread quartile outlier: distribution boxplot histogram statistics
correlation relationship against: scatter chart
development: trend line chart history
proportion percent percentage: pie chart
organigram hierarchy: organization tree treemap chart
workflow: flow diagram process
brainstorm: mindmap idea thinking
arrow: connector line shape
square circle box rectangle ellipse triangle: shape rectangle draw
colour red green blue yellow: color fill
paint painting drawing sketch illustration: image draw generate canvas
logo: icon image svg
portrait selfie: photo image
wireframe prototype: design mockup
backdrop: background
transparent: background remove
watercolour watercolor: style image
texture: sprite material load
level: scene

museum exhibition gallery: place art object
pizza sushi burger bistro steakhouse: restaurant food place
flat apartment hostel: accommodation stay listing property
pharmacy bakery supermarket atm gym cinema: place nearby search
walk cycle bike foot: route direction
drive driving: route direction
commute: travel time route
tesla ev: charging vehicle station
halfway midpoint: meeting point
neighborhood neighbourhood district: area explore
street avenue: address geocode
village: city location place
fly: flight travel
seat: ticket train
station: train location
rain snow sunny windy storm: weather forecast
warm cold freezing: weather temperature
tomorrow weekend: forecast schedule
sunrise sunset: time astronomy

nasdaq: stock price ticker
dividend: stock finance
nvidia tesla microsoft samsung: company stock
btc eth coin: crypto price
dollar euro pound yen yuan usd eur gbp jpy: currency exchange convert
invested: portfolio holding
executive director ceo cfo insider: insider company officer
earning profit: financial statement income
salary wage: income job
mortgage: loan finance calculate
inflation gdp unemployment: economy indicator

times plus minus divided multiplied squared: calculate math
addition subtraction multiplication division: calculate math
equation: calculate math solve
luck raffle lottery winner: random
kilometer mile kilogram fahrenheit celsius inch: convert unit
hour: time
yesterday tonight: date time

gist tldr: summarize summary
reword paraphrase rephrase: rewrite text
typo: grammar spelling check
german french english italian japanese korean chinese spanish: translate language
subtitle: transcript video
youtube clip: video transcript
podcast: audio episode
spoken said dictation: transcribe audio speech text
aloud: speech audio
tempo rhythm: beat bpm
singer band: artist music
remember memorize: memory store add entity
recall remembered: memory search knowledge
person people: entity user contact
chatgpt gpt claude gemini: model ai
tokenize: model text

cook bake: recipe food
calorie diet: nutrition food
workout: exercise fitness
pain flu fever headache: medical health symptom
cancer tumor diabetes: clinical research article disease trial
mutation dna: variant gene
pill tablet: drug medication
vaccine: health

laptop computer headphone mattress shoe monitor electronics gadget: product shopping search
buying cheap cheapest affordable: product shopping price
gift present: product shopping
amazon ebay walmart etsy: product shopping
house renting rent: property real_estate home listing
internship hiring vacancy: job
attorney lawyer lawsuit: law legal
tuition campus: university school education
homework exam: study question
class tutorial: course
puppy kitten: pet animal
lamp light bulb: light device brightness
blind shade curtain: window
burglar: alarm security
galaxy planet star: space astronomy
sweatshirt hoodie shirt: clothing design
whiskey beer wine: drink
supplier vendor: company
nintendo playstation xbox: game
player: profile match game

what_in what_inside: list read content
what_on: list event schedule
what_new anything_new: latest news update
what_left: remaining
what_wrong: error issue debug diagnose
what_worth: price value
which_of: list compare
who_can: permission access role
how_do_i_get: route direction

back_up: backup export dump
roll_back: restore revert undo
check_in: commit
check_out: switch branch
check_off cross_off tick_off mark_done: complete done update
tear_down take_down bring_down: delete stop remove
bring_back: restore
break_down: split analyze
narrow_down: filter
track_down dig_up hunt_down sift_through: search find
pick_out: select extract
cut_out: crop remove background
cut_down: shorten
blow_up: resize scale
zoom_in: scale
put_off: update move schedule
hold_off: pause
hook_up plug_in: connect
reach_out get_back drop_line: message send reply contact
pass_on: forward send share
fire_off: send
tell_apart: compare diff
open_up: open
close_out: close complete
line_up: arrange schedule
log_out: logout
scroll_down scroll_up: scroll page
screen_grab: screenshot
heads_up: notify alert
lay_out: layout arrange
keep_eye: monitor
team_member: user member
due_date: deadline date task
status_code: http response request
merge_conflict: merge diff branch
release_note: release changelog version
build_log: log build job
access_token api_key: key token secret credential
environment_variable: env variable config
data_set: dataset data
time_zone: time timezone convert
time_off: absence leave
job_offer job_opening: job
real_estate: property listing
credit_card: payment card
gift_card: voucher
bar_code: barcode qr
voice_over: speech audio tts
cover_letter: document resume
sales_call: call engagement
road_map: roadmap project milestone
stand_up: meeting

gmail outlook inbox mailbox: email message mail
slack discord teams whatsapp telegram: message channel chat
zoom webex: meeting
jira asana: issue task project ticket
trello kanban: board card list task
todoist: task todo
confluence notion: page document
obsidian evernote onenote: note
github gitlab bitbucket: repository code issue
salesforce hubspot pipedrive: crm contact deal customer
zendesk intercom freshdesk: ticket customer support
stripe paypal: payment invoice customer
shopify woocommerce: product order shop
airtable: table record base
grafana datadog prometheus: metric dashboard log monitor
sentry: error issue event
pagerduty opsgenie: incident alert
aws azure gcp: cloud resource
vercel netlify heroku: deployment project
terraform pulumi ansible: infrastructure module
snowflake bigquery redshift: database query table
redis memcached: key value cache
kafka rabbitmq: message topic queue
figma canva: design
photoshop gimp: image edit
spotify: music song playlist track
tiktok instagram facebook linkedin twitter reddit: post social profile
quickbooks xero: invoice accounting
chrome firefox safari: browser page
excel: spreadsheet sheet workbook
powerpoint: presentation slide
dropbox onedrive: file storage
wordpress: post page site blog
latex: document
jupyter: notebook code
pandas dataframe: data table csv
vue angular svelte: component frontend
tailwind bootstrap: css style component
unity unreal godot: game scene object
blender: 3d scene object model

pic: image photo
vid: video
folks guy everybody: user member
chore errand: task
assignee owner: user
backlog kanban sprint: task issue board project
epic milestone: project issue
subtask: task
standup: meeting
rsvp: event invite attendee
eta: time travel
receipt: invoice payment
expense: payment transaction
overdue unpaid owe debt: invoice list
reimburse: refund
paycheck payslip: payroll salary
candidate applicant: resume job
onboard: create user
fired resigned: delete user
outgoing incoming: message call
voicemail: message audio call
carbon_copy: email recipient
spam junk: email message filter
newsletter: email
unread: message email list
hashtag mention: post social search
follower: user profile
clipboard: copy paste
shortcut hotkey keystroke: key press
cursor pointer: mouse move
keyboard: key press type
viewport fullscreen: resize window
captcha: browser
daemon: service process
env: environment variable
firewall port: network
subnet vpc: network
ssl tls https: certificate
vulnerability exploit cve: security
malware virus: security scan
whoami: user profile
quota limit: usage
spend: cost usage
latency throughput: performance metric
spike anomaly: metric monitor alert
alert alarm: notification monitor
incident: issue alert
root_cause: analyze error
flaky: test
mock stub: test
coverage: test report
typescript: type code
changelog: release version history
outdated: update version dependency
tarball: archive file
checksum md5 sha: hash
uuid guid: id generate
base64: encode decode
regex: pattern match
shard: index cluster
partition: table topic
embedding: vector
similar: related search vector
nearest neighbour neighbor: vector search similar
headline: news title
lyric: song music
chord melody: music audio
cinema: movie place
trailer: video movie
actor actress: movie person
episode season: show series tv
league tournament standings: sport team
athlete: player sport
poem haiku: write text generate
essay: write text document
slogan tagline: marketing write
keyword: search seo
traffic visitor: analytics website
campaign ad: marketing
poll vote: survey
questionnaire: form survey
constellation: astronomy space
asteroid comet: space nasa
earthquake quake: seismic
pollen smog: air quality
humidity wind: weather
jacket umbrella: weather
passport visa: travel
suitcase luggage: travel flight
layover: flight
roundtrip: travel flight ticket
subway metro tram bus: transit route
taxi uber: ride
parking: parking place
gas petrol fuel: station price
toll: route
altitude summit: elevation
latitude longitude: coordinate location
postcode zip_code: address location
continent country capital: country location
population: country statistics
prime factorial: math number
probability odds: statistics calculate
shuffle: random order
countdown stopwatch: timer time
bake roast grill fry: recipe cook
vegan vegetarian gluten: recipe diet food
leftover: recipe ingredient
protein: nutrition
jog marathon: run fitness
prescription dose: medication drug
surgeon clinic: doctor medical
mortgage: loan
broker: stock trading
hedge: investment
candle ohlc: stock history price
ipo: stock company
sec filing: company financial
balance_sheet: financial statement
merger: company news
startup: company
competitor: company market
gdpr compliance: policy legal
pronounce: speech language
synonym antonym: word dictionary
spelling: grammar check
font: text format
margin indent: format page
watermark: image document
thumbnail: image
resolution: image size
gif: image animation
gradient: color
avatar: image profile
emoji: icon
barcode: qr code
meme: image
`;

/** The words of requests with the words of tools that they mean. */
export const everydayTable: readonly { asked: readonly string[]; meant: readonly string[] }[] = table
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [asked = [], meant = []] = line.split(":").map((words) => words.split(" ").filter(Boolean));
    return { asked, meant };
  });

/** What people say, and what tools are called: words of the trade that stand for one another, in groups. */

/** Nearly the same. Endings do not count; a word may be in several groups; `sign_in` are two words in a row. */
const same = `
add create new make insert append register
create generate produce build make compose
create start open begin initialize init setup set_up
write save store put persist
change update edit modify alter patch adjust revise
set assign configure define
rename retitle
move transfer relocate shift
copy duplicate clone replicate
delete remove erase trash discard drop destroy wipe get_rid
clear reset empty purge flush prune clean clean_up tidy_up
uninstall remove
get fetch retrieve obtain read load pull give
get show display view present see tell
list enumerate browse all every available
find search lookup look_up locate discover seek query
find detect spot identify recognize
check verify validate test confirm ensure
check inspect examine review look
open launch start run spin_up kick_off boot fire_up
run execute invoke call perform
stop end kill terminate halt abort quit close shut_down turn_off
cancel call_off revoke withdraw abort stop
pause suspend hold
resume continue proceed
restart reboot reload
send post publish submit deliver share push
notify alert message remind warn tell
receive accept incoming
reply respond answer comment
download fetch save
upload attach send import
import load ingest
export dump extract save convert
convert transform translate turn change
translate translation language interpret
parse extract scrape crawl pull
summarize summary digest brief overview recap gist sum_up shorten condense boil_down
shorten short tl
compare diff difference versus contrast
merge combine join concat unify consolidate
split divide separate cut break
sort order rank arrange
filter narrow restrict
group categorize classify organize
count number many total amount
sum total add_up
calculate compute evaluate work_out math arithmetic
average mean
estimate predict forecast projection
analyze analysis analytics insight examine study
measure metric gauge
monitor watch track observe follow
track trace
schedule plan calendar appointment
book reserve reservation booking
buy purchase order shop acquire
sell sale
pay payment charge billing
refund reimburse money_back pay_back
invoice bill receipt
unpaid overdue outstanding owe debt
subscribe subscription
unsubscribe opt_out
invite invitation
approve accept authorize
reject decline deny refuse
assign assignee delegate owner
enable activate turn_on switch_on
disable deactivate turn_off switch_off
toggle switch
lock freeze
unlock release
allow permit grant
block ban forbid
connect link attach bind
disconnect detach unlink
login log_in sign_in authenticate authentication auth
logout log_out sign_out
encrypt cipher encode
decrypt decode decipher
compress zip archive
decompress unzip unpack
deploy release ship rollout
install setup
upgrade update
rollback revert undo restore
backup back_up snapshot dump
sync synchronize
draw paint sketch illustrate
plot chart graph diagram visualize visualization
render display preview
click tap press
type fill enter input
scroll swipe
drag drop
hover mouse
navigate go visit browse open
wait delay sleep
capture take screenshot snap
record log
listen hear
speak say talk voice speech
play playback stream
watch view
learn study teach course education lesson
recommend suggest suggestion recommendation advice advise propose
explain describe explanation definition meaning
help assist support guide
choose select pick
rate rating review score
fix repair correct resolve
debug troubleshoot diagnose
improve optimize enhance
resize scale
crop trim
rotate turn
blend mix
paste insert
replace substitute swap
highlight mark
tag label
pin bookmark favorite star
like upvote
vote poll
mute silence

file document
directory folder dir
path location
filesystem disk drive storage
text content body
name title
size length
page website site webpage web
url link address
internet web online
browser chrome
tab window
image picture photo photograph illustration jpg jpeg png
screenshot screen_shot
icon logo symbol
video clip movie film footage
audio sound mp3 wav recording
music song track tune
playlist album
transcript transcription transcribe subtitle caption speech_to_text
speech voice audio text_to_speech
document doc docx word
spreadsheet sheet excel xlsx workbook
slide presentation powerpoint ppt deck
pdf document
csv table tabular
table grid
row record line entry
column field
cell range
email mail gmail inbox message
message chat conversation dm
channel room
thread discussion conversation
comment note remark annotation
note memo
contact person people
user account member profile
customer client
employee staff worker colleague
team group
organization company business firm enterprise org corporation
job career vacancy position employment
resume cv
task todo to_do reminder
remind reminder alarm wake_up alert
attachment attach enclosed
issue ticket bug problem
project board
milestone sprint
event meeting appointment calendar
available availability free slot busy
absence away vacation out_of_office
agenda plan schedule day
date day time
time clock hour
timezone time_zone
now current today latest present
recent latest newest new last
history past previous historical
future upcoming next
deadline due
repository repo codebase
branch fork
commit revision change
pull_request pr merge_request mr
code source program snippet script
function method
library package module dependency
version release
documentation docs manual reference
database db sql
query sql select
schema structure
index search
server host machine
service api
endpoint route
website domain
dns domain
ip address
container docker pod
cluster kubernetes k8s
cloud aws azure gcp
instance vm
function lambda
log output print
error exception failure crash fault
metric statistic stats
dashboard panel
key secret password credential token
permission access right role
setting config configuration option preference parameter
environment variable env
template boilerplate
form survey questionnaire
command shell terminal bash console cli
process program
memory ram
memory remember knowledge
knowledge_graph entity relation
node vertex
graph network
model llm ai
prompt instruction
embedding vector semantic
dataset data
paper article publication study research
academic scholar scientific research
author writer creator
citation reference
book novel literature ebook
news headline article
blog post article
tweet twitter x
video youtube
encyclopedia wikipedia wiki
dictionary definition word meaning
synonym thesaurus
quote saying
joke humor fun
trivia quiz
game play gaming
trend trending popular hot
top best ranking leaderboard
weather forecast climate
temperature heat
rain precipitation
air pollution quality
earthquake seismic
stock share equity ticker
price cost quote rate
market exchange trading
crypto cryptocurrency bitcoin coin ethereum
blockchain wallet
currency exchange forex money
finance financial
invest investment portfolio holding
bank account
balance statement
income revenue earnings
tax taxes
loan mortgage credit
budget expense spending
discount coupon deal promo voucher bargain
product item goods
shop store
catalog inventory stock
cart basket
shipping delivery parcel package
order purchase
travel trip journey vacation holiday tour
itinerary trip plan
flight airline airfare plane
airport flight
hotel accommodation lodging stay
train railway rail
bus transit transport
car vehicle automobile auto
parking park
taxi ride
map location place geographic geo
place location spot venue
near nearby around close vicinity
distance far
elevation altitude height climb
direction route navigation way
coordinate latitude longitude geocode
address geocode
city town
country nation
restaurant dining eat
food meal dish
recipe cook cooking
ingredient food
drink beverage
diet nutrition calorie healthy
fitness exercise workout training
health medical medicine
doctor physician
drug medication medicine
disease illness symptom condition
patient clinical
gene genetic genome
protein molecule
chemical compound
law legal
court case lawsuit
contract agreement
property real_estate house home apartment
rent rental lease
insurance policy
gift present
fashion clothing clothes outfit
beauty makeup cosmetic
pet animal
plant garden
sport team match
player athlete
movie film cinema
show series tv
anime manga
actor celebrity
artist singer musician
lyrics song
podcast episode
concert event
ticket admission
astronomy space planet
horoscope astrology zodiac tarot
picture art design
design mockup prototype figma
color palette
font typography
layout arrangement
3d model mesh
component widget element
css style
qr barcode
hash checksum digest
random dice
uuid id identifier
math equation formula
number integer numeric
unit measurement
statistics statistical
probability chance
regex pattern
json object
xml html
markdown md
encoding base64
network traffic
security vulnerability threat
scan audit
port socket
certificate ssl
proxy vpn
phone telephone call mobile
sms text_message
device phone
sensor iot
light lamp
temperature thermostat
smart_home home_automation
children kid child
student pupil
school university college
language linguistic
english grammar
grammar spelling proofread
essay writing
story tale
poem poetry
interview hiring
marketing advertising ad campaign
seo keyword
lead prospect
audience follower
visitor traffic
donation charity
government public
election vote
population demographic
patent invention
finance financial financially
health healthy healthcare
music musical musician
history historical historic
science scientific scientist
medicine medical medication
economy economic economist
photo photography photographer photograph
chemistry chemical
biology biological
mathematics math mathematical
politics political politician
analysis analyze analytics analyst
education educational educate
nutrition nutritional nutrient
environment environmental
philosophy philosophical
religion religious
psychology psychological
literature literary
architecture architectural architect
culture cultural
nature natural
energy energetic
crime criminal
navigation navigate
publication publish publisher
description describe
definition define
comparison compare
modification modify
subscription subscribe
removal remove
deletion delete
retrieval retrieve
`;

/** Each group as its words; `sign_in` are two in a row. */
export const synonymTable: readonly string[][] = same
  .split("\n")
  .map((line) => line.split(" ").filter(Boolean))
  .filter((words) => words.length > 1);

/** Sixty tools of twelve imaginary servers, each with two requests as a person would write them. */

export interface Example {
  server: string;
  tool: string;
  description: string;
  /** Names of parameters. */
  parameters: string;
  requests: [string, string];
}

/** `server.tool(parameters): description | request | request` */
const lines = `
hearth.set_heating(room, degrees): Adjusts the thermostat of one room. | it's freezing in the bedroom, make it 21 | turn the living room down to eighteen degrees
hearth.list_rooms(): All rooms with the devices in them. | which lamps and sensors do I have at home | show me every room of the house
hearth.dim_lamp(lamp, percent): Sets how bright a lamp is. | make the kitchen light half as bright | lower the brightness of the reading lamp
hearth.arm_alarm(mode): Turns the burglar alarm on. | secure the house, we are leaving | switch on the burglar protection for tonight
hearth.open_blinds(window): Raises the blinds of a window. | let some daylight in | pull up the shades in the office
ledger.create_invoice(customer, lines, due): Writes a bill to a customer. | bill Acme for twelve hours of consulting | draft an invoice, payable in 30 days
ledger.record_payment(invoice, amount, date): Marks an invoice as paid, wholly or in part. | the Miller bill was settled yesterday | note that 200 euros came in for invoice 77
ledger.find_unpaid(older_than_days): Invoices whose term is over. | who still owes us money | list overdue bills
ledger.export_ledger(year, format): The bookkeeping of a year as a file for the accountant. | give me last year's books as CSV | I need all entries of 2024 for my tax adviser
ledger.refund_customer(payment, reason): Sends a payment back. | give the buyer their money back | undo the charge of Mrs. Lee because the item arrived broken
pigeon.send_letter(to, subject, body): Sends an e-mail. | write to Anna that I will be late | mail the minutes to the whole board
pigeon.search_inbox(words, since): Finds messages that were received. | did anybody answer about the contract | look for mails from the landlord since May
pigeon.file_away(message, folder): Moves a message to a folder. | put this newsletter into the reading folder | archive the mail from the bank
pigeon.set_absence(from, until, text): Answers senders automatically while you are away. | I am on holiday next week, tell people who write | turn on an out of office reply
pigeon.fetch_attachment(message, name): The content of a file that came with a message. | get me the PDF that Tom sent | save what was attached to the last mail of the lawyer
almanac.add_appointment(title, start, end, guests): Puts something into the calendar. | lunch with Eva on Friday at noon | schedule a meeting with the design team tomorrow
almanac.free_slots(people, minutes): When everybody has time. | when could the four of us meet for an hour | find a gap in the diaries of Bob and me
almanac.cancel_appointment(appointment): Takes something out of the calendar and tells the guests. | call off the dentist | the Monday meeting will not take place
almanac.agenda(day): What is planned for a day. | what do I have to do today | am I busy on the 14th
almanac.remind_me(text, at): Rings at a given time. | wake me at six | don't let me forget the laundry in 40 minutes
forge.open_ticket(title, body, labels): Reports a bug in a repository. | the login page crashes, file a bug about it | create an issue for the missing translation
forge.propose_change(branch, title): Opens a pull request from a branch. | open a PR with what I pushed | ask for a review of my branch
forge.read_source(path, ref): A file of a repository as it is at a commit. | show the code of main.rs at the last tag | what does the config look like on the develop branch
forge.who_changed(path): Who wrote each line of a file, and when. | blame for server.go | who touched this function last
forge.run_checks(branch): Starts the tests of a branch on the build machines. | kick off CI for my branch | run the test suite again
harbor.start_container(image, ports): Runs an image. | spin up a redis | launch nginx in docker on port 8080
harbor.tail_logs(container, lines): The last lines that a container has written. | what did the api print before it died | output of the worker container
harbor.stop_container(container): Ends a container. | shut the database container down | kill the container that hangs
harbor.list_images(): Images on this machine with their sizes. | which docker images take so much room | what have I pulled already
harbor.prune(): Deletes what no container uses any more. | free disk space from old docker stuff | clean up unused volumes and images
atlas.route(from, to, by): The way from one place to another. | how do I get from the station to the zoo on foot | directions to the airport by car
atlas.places_near(point, kind): What there is around a point, such as restaurants or pharmacies. | somewhere to eat close to my hotel | is there a pharmacy nearby
atlas.coordinates_of(address): Latitude and longitude of an address. | geocode 10 Downing Street | where exactly is this address on earth
atlas.height_profile(track): How a track climbs and falls. | how steep is the hike | elevation along my bike tour
atlas.travel_time(from, to, departure): How long a way takes with the traffic at that hour. | how long will I sit in the car if I leave at 8 | commute duration in the rush hour
quarry.run_sql(database, statement): Runs a statement and gives the rows. | how many users signed up per month, query the database | select all orders above 100
quarry.describe_table(table): Columns of a table with their types. | what fields does customers have | show the schema of orders
quarry.slow_statements(): Statements that took longest lately. | why is the database so slow | which queries need an index
quarry.back_up(database): Writes a copy of a database to the storage. | make a dump before I migrate | save a snapshot of production
quarry.import_rows(table, file): Adds the rows of a CSV file to a table. | load this spreadsheet into the database | bulk insert contacts.csv
canvas.draw_chart(kind, series, title): A picture of numbers as lines, bars or slices. | plot the revenue by quarter | pie diagram of our expenses
canvas.shrink_image(image, width): Makes a picture smaller. | resize the photo to 800 pixels | this jpg is too big for the website
canvas.remove_background(image): Cuts out what is in front. | make the backdrop of the portrait transparent | crop the person out of the picture
canvas.read_text(image): The words in a picture of a page. | OCR the scanned receipt | what is written on this photo of a sign
canvas.paint(description, style): A new picture from words. | generate an image of a fox in the snow | illustrate my story in watercolour
spyglass.search_web(words): Pages of the internet about something. | google the opening hours of the museum | what do people say about the new phone online
spyglass.read_page(url): The text of a web page without menus and advertising. | summarize https://example.org/article | scrape the content of this site
spyglass.headlines(topic, country): What the newspapers write today. | latest news about the election | what happened in Brazil
spyglass.encyclopedia(title): A lexicon article on a subject. | who was Ada Lovelace, from wikipedia | background on the French revolution
spyglass.watch_page(url, every): Tells when a page has changed. | let me know when the ticket shop updates | monitor this site for price changes
orchard.quote(symbol): The price of a share now. | what is Siemens trading at | current stock price of NVDA
orchard.history(symbol, from, to): Prices of a share over time. | how did Apple shares do in the last five years | historical closing prices for my chart
orchard.convert_money(amount, from, to): Turns an amount into another currency. | 250 dollars in yen | exchange rate pound to euro
orchard.my_holdings(): What is in your portfolio and what it is worth. | how much have I invested | value of my stocks
orchard.buy(symbol, count): Places an order for shares. | purchase ten shares of Bayer | get me 5 TSLA
parrot.translate(text, to): A text in another language. | what does this mean in German | put the menu into English for me
parrot.transcribe(recording): What is said in a recording, as text. | turn the interview into written words | subtitles for my podcast
parrot.speak(text, voice): Reads a text aloud into an audio file. | make an mp3 of this paragraph | text to speech with a female voice
parrot.check_grammar(text): Mistakes in a text, with what would be right. | proofread my cover letter | any spelling errors in here
parrot.shorten(text, sentences): The gist of a long text in a few sentences. | tl;dr of this report | sum up the meeting notes
`;

export const examples: Example[] = lines
  .trim()
  .split("\n")
  .map((line) => {
    const { server, tool, parameters, description, one, two } =
      /^(?<server>\w+)\.(?<tool>\w+)\((?<parameters>.*?)\): (?<description>.*?) \| (?<one>.*) \| (?<two>.*)$/.exec(
        line,
      )!.groups as Record<string, string>;
    return {
      server: server!,
      tool: tool!,
      description: description!,
      parameters: parameters!,
      requests: [one!, two!],
    };
  });

/** Words that every request has: they say nothing of the tool that is meant. */

/** Looked for only where a query has no other words, and not indexed but in names. */
export const commonWords: ReadonlySet<string> = new Set(
  `a an and are as at be been being by can could did do does doing done for from get got had has have he her here him his
  how i if in into is it its just let like make may me might more most my need no not of on one only or other our out over
  please she should so some such than that the their them then there these they this those to too up us use used using very
  want was we were what when where which while who whom why will with would you your also any about after all am because
  before between both but during each few further off once own same through under until above again against below down
  help know tell give show look looking look find wish able going im ive ill lets thank thanks hi hello hey kindly tool
  tools information info
  related relating regarding concerning based following specific specifically various several currently provide assist
  something anything everything someone really actually possible available including include`.split(/\s+/),
);

/** The topics of support tickets: what customers write, and what support answers. */

export interface Topic {
  /** The subject. `{product}` and `{order}` are placeholders. */
  subject: string;
  /** Whether the topic is about an order. Otherwise it is a question before one. */
  aboutOrder: boolean;
  question: string;
  answer: string;
  followUp: string;
}

export const TOPICS: readonly Topic[] = [
  {
    subject: "Where is my order {order}?",
    aboutOrder: true,
    question: "I ordered a {product} and have not heard anything since. When will it arrive?",
    answer: "Thank you for asking. We have called the carrier and will tell you the new delivery date today.",
    followUp: "It still has not arrived. Could you please check again?",
  },
  {
    subject: "Damaged {product}",
    aboutOrder: true,
    question: "The parcel came today, but the {product} has a crack. What can you do about it?",
    answer: "We are sorry about that. Please send us a photo, and we will replace it or refund the price.",
    followUp: "Here is the photo. I would prefer a replacement.",
  },
  {
    subject: "Refund for order {order}",
    aboutOrder: true,
    question: "I sent the {product} back last week. When will I get my refund?",
    answer: "Your parcel has reached our warehouse. The refund takes up to 5 days from here.",
    followUp: "I have not seen the money yet.",
  },
  {
    subject: "Wrong item delivered",
    aboutOrder: true,
    question: "I ordered a {product}, but something else was in the box.",
    answer: "That was our mistake. The right item leaves our warehouse tomorrow, and a return label is attached.",
    followUp: "Thank you. Do I have to pack it in the original box?",
  },
  {
    subject: "Change the delivery address",
    aboutOrder: true,
    question: "I am moving next week. Can order {order} go to my new address?",
    answer: "Yes, as long as it has not been shipped. Please write us the new address.",
    followUp: "It is two streets away, the postcode stays the same.",
  },
  {
    subject: "Invoice for order {order}",
    aboutOrder: true,
    question: "I need an invoice with our VAT number for this order.",
    answer: "The invoice is attached. Please tell us if anything is missing.",
    followUp: "The company name is not complete on it.",
  },
  {
    subject: "Is the {product} still available?",
    aboutOrder: false,
    question: "I would like to buy four of the {product}. Are they in stock, and how long does delivery take?",
    answer: "We have them in our warehouse. Delivery takes about a week.",
    followUp: "Could you reserve them until Friday?",
  },
  {
    subject: "Question about the {product}",
    aboutOrder: false,
    question: "Which materials is the {product} made of, and how is it cleaned?",
    answer: "A dry cloth is all that it needs. The full list of materials is on the product page.",
    followUp: "I could not find it there.",
  },
  {
    subject: "Discount for larger quantities",
    aboutOrder: false,
    question: "We furnish a small hotel and would need twenty of the {product}. Is there a discount?",
    answer: "We would be glad to help. A colleague from our wholesale team will call you.",
    followUp: "Nobody has called yet.",
  },
  {
    subject: "Cannot log in to my account",
    aboutOrder: false,
    question: "The link to reset my password does not work. Could you help?",
    answer: "We have sent you a new link. It is valid for one hour.",
    followUp: "The new link does not work either.",
  },
];

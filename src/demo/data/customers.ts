/** Generates 600 customers in nine countries, numbered in the order of their sign-up. */
import type { Country, Customer } from "../model.ts";
import type { Random } from "../random.ts";
import { plainText } from "../text.ts";
import { isoTime, YEAR_START_MS } from "./calendar.ts";

const COUNT = 600;
const FIRST_SIGN_UP = Date.UTC(2021, 2, 1);
const LAST_SIGN_UP = Date.UTC(2025, 11, 20);
/** Number of customers who signed up before 2025. They can order from the first day of the year. */
const BEFORE_2025 = 420;

export function generateCustomers(random: Random): Customer[] {
  const signUps = signUpTimes(random);
  const weights = Object.fromEntries(Object.entries(PLACES).map(([country, { weight }]) => [country, weight]));
  const taken = new Set<string>();
  return signUps.map((signedUpMs, index) => {
    const country = random.weighted(weights as Record<Country, number>);
    const { first, last, cities, street } = PLACES[country];
    let name: string;
    do name = `${random.pick(first.split(" "))} ${random.pick(last.split(" "))}`;
    while (taken.has(name));
    taken.add(name);
    const [, city = "", postal_code = ""] = /^(\S+) (.+)$/.exec(random.pick(cities.split(", "))) ?? [];
    return {
      id: `cus_${String(index + 1).padStart(4, "0")}`,
      name,
      email: `${plainText(name).replaceAll("'", "").replaceAll(" ", ".")}@example.com`,
      country,
      segment: random.weighted({ retail: 76, wholesale: 14, vip: 10 }),
      created_at: isoTime(signedUpMs),
      address: { street: street(random.int(1, 140)), postal_code, city, country },
    };
  });
}

function signUpTimes(random: Random): number[] {
  const times = Array.from({ length: COUNT }, (_, index) => {
    const [from, to] = index < BEFORE_2025 ? [FIRST_SIGN_UP, YEAR_START_MS - 1000] : [YEAR_START_MS, LAST_SIGN_UP];
    return random.int(from / 1000, to / 1000) * 1000;
  });
  return times.sort((a, b) => a - b);
}

/** The places where customers live: common first and last names, cities with a postcode, and a street. */
interface Place {
  /** Weight of the country in the choice of a customer's country. All weights add up to 100. */
  weight: number;
  first: string;
  last: string;
  /** Each city with a postcode. */
  cities: string;
  street: (number: number) => string;
}

const GERMAN_FIRST =
  "Anna Mathilda Lena Nora Katharina Sophie Marie Greta Ida Klara Jonas Felix Lukas Paul Max Emil Moritz Jakob Stefan Markus";
const GERMAN_LAST =
  "Müller Schmidt Schneider Fischer Weber Wagner Becker Hoffmann Schäfer Koch Richter Klein Wolf Schröder Neumann Krüger Zimmermann Köhler Brandt Vogel";

const PLACES: Readonly<Record<Country, Place>> = {
  AT: {
    weight: 9,
    first: GERMAN_FIRST,
    last: "Gruber Huber Bauer Wagner Pichler Steiner Moser Hofer Leitner Berger Fuchs Eder Egger Winkler",
    cities: "Wien 1070, Graz 8010, Linz 4020",
    street: (n) => `Lindengasse ${n}`,
  },
  CH: {
    weight: 8,
    first: GERMAN_FIRST,
    last: "Meier Keller Brunner Baumann Frei Gerber Widmer Zürcher Suter Graf Roth Kaufmann Wyss Lüthi",
    cities: "Zürich 8004, Bern 3011, Basel 4057",
    street: (n) => `Seestrasse ${n}`,
  },
  DE: {
    weight: 30,
    first: GERMAN_FIRST,
    last: GERMAN_LAST,
    cities: "Berlin 10405, Hamburg 20357, Köln 50674, München 80469, Leipzig 04109",
    street: (n) => `Gartenstraße ${n}`,
  },
  DK: {
    weight: 5,
    first: "Freja Ida Karla Alma Signe Mads Rasmus Søren Mikkel Anders",
    last: "Nielsen Jensen Hansen Pedersen Sørensen Larsen Møller Rasmussen Holm Kjær",
    cities: "København 2200, Aarhus 8000, Odense 5000",
    street: (n) => `Havnegade ${n}`,
  },
  FR: {
    weight: 14,
    first: "Camille Chloé Inès Léa Manon Élodie Juliette Louis Hugo Antoine Théo Bastien Julien Rémi",
    last: "Martin Bernard Dubois Petit Durand Leroy Moreau Laurent Lefèvre Roux Fournier Girard Mercier Chevalier",
    cities: "Paris 75011, Lyon 69004, Nantes 44000, Lille 59800",
    street: (n) => `${n} rue des Tilleuls`,
  },
  GB: {
    weight: 10,
    first: "Emma Alice Grace Olivia Poppy Charlotte Oliver Harry George Thomas Edward Samuel",
    last: "Smith Jones Taylor Brown Davies Evans Walker Wright Thompson Hughes Clarke O'Connor",
    cities: "London E8 3PN, Leeds LS6 2UE, Bristol BS3 1JA",
    street: (n) => `${n} Orchard Road`,
  },
  NL: {
    weight: 10,
    first: "Sanne Fleur Lotte Eva Noor Johanna Daan Bram Sem Thijs Jeroen Pieter",
    last: "Bakker Visser Smit Meijer Mulder Bos Vos Peters Hendriks Dekker Brouwer Dijkstra",
    cities: "Amsterdam 1053 AB, Utrecht 3512 HC, Rotterdam 3015 GG",
    street: (n) => `Molenweg ${n}`,
  },
  PL: {
    weight: 7,
    first: "Anna Zofia Kasia Maja Agnieszka Ewa Jakub Łukasz Paweł Michał Tomasz Piotr",
    last: "Nowak Kowalczyk Wiśniewski Wójcik Kamiński Lewandowicz Zieliński Woźniak Mazur Krawczyk Dąbrowski Król",
    cities: "Warszawa 00-545, Kraków 31-014, Gdańsk 80-831",
    street: (n) => `ul. Lipowa ${n}`,
  },
  SE: {
    weight: 7,
    first: "Anna Elsa Astrid Maja Saga Linnéa Erik Oskar Nils Axel Björn Gustav",
    last: "Andersson Johansson Karlsson Nilsson Eriksson Lindqvist Berg Sjöberg Ekström Åkesson Lund Holmgren",
    cities: "Stockholm 118 25, Göteborg 413 01, Malmö 211 22",
    street: (n) => `Björkgatan ${n}`,
  },
};

/** The 16 colours of a terminal in a light and a dark scheme; other colours become the nearest of them. */

/** The colours of xterm, to find the nearest. */
const usual = [
  0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00,
  0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
];

export function nearestColour(red: number, green: number, blue: number): number {
  const distances = usual.map(
    (colour) => ((colour >> 16) - red) ** 2 + (((colour >> 8) & 255) - green) ** 2 + ((colour & 255) - blue) ** 2,
  );
  return distances.indexOf(Math.min(...distances));
}

export interface Theme {
  text: string;
  ground: string;
  /** The border of the window, and its dots. */
  edge: string;
  /** Text outside the terminal: the title and the caption. */
  aside: string;
  /** The 16 colours in order; each has enough contrast to the ground. */
  colours: readonly string[];
}

export const light: Theme = {
  text: "#1f2328",
  ground: "#ffffff",
  edge: "#d1d9e0",
  aside: "#59636e",
  // biome-ignore format: eight per line
  colours: [
    "#24292f", "#c0212d", "#116329", "#7d4e00", "#0550ae", "#7a3fc4", "#0b6a78", "#6e7781",
    "#57606a", "#a40e26", "#1a7f37", "#744500", "#0969da", "#8250df", "#146874", "#59636e",
  ],
};

export const dark: Theme = {
  text: "#e6edf3",
  ground: "#0d1117",
  edge: "#30363d",
  aside: "#9198a1",
  // biome-ignore format: eight per line
  colours: [
    "#8b949e", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9",
    "#8b949e", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#76e3ea", "#f0f6fc",
  ],
};

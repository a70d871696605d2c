// Functions that the tests of the session send to the browser as text, to examine its SVG.

/** Stops the session at this time. */
export function standAt(ms) {
  for (const animation of document.getAnimations()) {
    animation.pause();
    animation.currentTime = ms;
  }
}

/** The visible texts on the screen, without hidden, scrolled and covered ones. */
export function lines() {
  // Its rectangle would include everything in it; the image has its declared size, and begins at the top left.
  const [top, height] = ["y", "height"].map((name) => Number(document.querySelector("svg svg").getAttribute(name)));
  const covers = [...document.querySelectorAll("g[class^=t]")]
    .filter((cover) => getComputedStyle(cover).visibility === "visible")
    .map((cover) => cover.getBoundingClientRect());
  const seen = new Map();
  for (const text of document.querySelectorAll("svg svg text")) {
    if (getComputedStyle(text).visibility !== "visible") continue;
    const { left, right, ...box } = text.getBoundingClientRect().toJSON();
    const middle = (box.top + box.bottom) / 2;
    if (middle < top || middle > top + height) continue;
    const cover = covers.find((each) => each.top < middle && each.bottom > middle && each.left < right);
    const share = cover ? Math.max(0, cover.left - left) / (right - left) : 1;
    const shown = text.textContent.slice(0, Math.round(text.textContent.length * share));
    const line = Math.round(text.getAttribute("y"));
    if (shown !== "") seen.set(line, `${seen.has(line) ? `${seen.get(line)} ` : ""}${shown}`);
  }
  return [...seen].sort(([a], [b]) => a - b).map(([, line]) => line);
}

/** Texts that begin or end more than a quarter of a column from their place, overlap the next text, or leave the screen. */
export function misplaced(font) {
  if (font !== undefined) {
    for (const text of document.querySelectorAll("text")) text.style.fontFamily = font;
  }
  const [start, columns] = ["x", "width"].map((name) => Number(document.querySelector("svg svg").getAttribute(name)));
  const texts = [...document.querySelectorAll("svg svg text")].map((text) => {
    const { left, right } = text.getBoundingClientRect();
    return { text, left, right, x: Number(text.getAttribute("x")), width: Number(text.getAttribute("textLength")) };
  });
  return texts
    .filter(({ text, left, right, x, width }) => {
      const [from, to] = [left - start, right - start];
      const isWrong = Math.abs(to - x - width) > 2;
      const next = text.nextElementSibling;
      const isBeside = next?.tagName === "text" && next.getAttribute("y") === text.getAttribute("y");
      const isOverlapping = isBeside && next.getBoundingClientRect().left < right - 0.5;
      return Math.abs(from - x) > 1 || isWrong || to > columns + 0.5 || isOverlapping;
    })
    .map(({ text, left, right }) => `${text.textContent} (${left} to ${right})`);
}

/** Words around the screen that protrude from the window. */
export function protruding() {
  const window = document.querySelector(".window").getBoundingClientRect();
  const words = [...document.querySelectorAll(".aside")].filter((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return left < window.left + 8 || right > window.right - 8 || top < window.top || bottom > window.bottom;
  });
  return words.map((text) => text.textContent);
}

/** Texts with a contrast of less than 4.5 : 1 to the ground. */
export function tooFaint() {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = numbers(getComputedStyle(document.querySelector(".window")).fill);
  const faint = [...document.querySelectorAll("text")].filter((text) => {
    const { fill, fillOpacity } = getComputedStyle(text);
    const seen = numbers(fill).map((part, place) => part * fillOpacity + ground[place] * (1 - fillOpacity));
    const [light, dark] = [luminance(seen), luminance(ground)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05) < 4.5;
  });
  return [...new Set(faint.map((text) => `${text.textContent} ${getComputedStyle(text).fill}`))];
}

export function animations() {
  return document.getAnimations().length;
}

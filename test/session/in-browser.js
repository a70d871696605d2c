// Functions that the test of the picture sends to the browser as text, to examine its SVG.

/** Texts that begin or end beside their place, or overlap the next text of their line. */
export function misplaced(font) {
  const texts = [...document.querySelectorAll("text")];
  if (font !== undefined) for (const text of texts) text.style.fontFamily = font;
  const wrong = texts.filter((text) => {
    const { left, right } = text.getBoundingClientRect();
    const [x, length] = ["x", "textLength"].map((name) => Number(text.getAttribute(name)));
    // Bars are drawn a little wider than their columns, so that they join.
    const slack = /[\u2580-\u259f]/.test(text.textContent) ? 4 : 1.5;
    const next = text.nextElementSibling;
    const isBeside = next?.getAttribute("y") === text.getAttribute("y");
    const isOverlapping = isBeside && next.getBoundingClientRect().left < right - slack;
    return (
      Math.abs(left - x) > Math.max(2, slack) || Math.abs(right - x - length) > Math.max(2, slack) || isOverlapping
    );
  });
  return wrong.map((text) => text.textContent);
}

/** Styles with a contrast of less than 4.5 : 1 to the ground. */
export function tooFaint() {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = numbers(getComputedStyle(document.querySelector("rect")).fill);
  const faint = [...document.querySelectorAll("text")].filter((text) => {
    const { fill, fillOpacity } = getComputedStyle(text);
    const seen = numbers(fill).map((part, place) => part * fillOpacity + ground[place] * (1 - fillOpacity));
    const [light, dark] = [luminance(seen), luminance(ground)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05) < 4.5;
  });
  return [...new Set(faint.map((text) => text.getAttribute("class")))];
}

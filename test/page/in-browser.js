// Functions that the tests of the page send to the browser as text, to examine it.

/** The positions of bars in percent of the track. */
export function bars(rows) {
  return rows.map((row) => {
    const track = row.querySelector(".track").getBoundingClientRect();
    const bar = row.querySelector(".bar").getBoundingClientRect();
    const percent = (x) => Math.round(((x - track.left) / track.width) * 1_000) / 10;
    return { name: row.querySelector(".name").textContent, from: percent(bar.left), to: percent(bar.right) };
  });
}

export function tops(elements) {
  return elements.map((element) => element.getBoundingClientRect().top);
}

export function focused() {
  return document.activeElement?.id;
}

export function isHacked() {
  return "hacked" in window;
}

export function ground() {
  return getComputedStyle(document.body).backgroundColor;
}

/** The number of visible keys in each card. */
export function shownKeys(cards) {
  return cards.map((card) => {
    const keys = [...card.querySelectorAll(".key")];
    return keys.filter((key) => getComputedStyle(key).visibility === "visible").length;
  });
}

export function animation(element) {
  return getComputedStyle(element).animationName;
}

export function scrollWidth() {
  return document.documentElement.scrollWidth;
}

/** Simulates code that was injected into the page. */
export function breakIn(address) {
  const script = document.createElement("script");
  script.textContent = "window.hacked = 1";
  document.body.append(script);
  document.body.insertAdjacentHTML("beforeend", `<img src="${address}image" onerror="window.hacked = 2">`);
  return fetch(`${address}fetch`).then(
    () => "sent",
    (error) => error.message,
  );
}

/** Texts with a contrast of less than 4.5 : 1 to their background. */
export function tooFaint() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = channels(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  return [...document.querySelectorAll("main *")].filter(hasText).flatMap((element) => {
    const [one, other] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return ratio < 4.5 ? [`${element.className || element.tagName}: ${ratio.toFixed(1)}`] : [];
  });
}

/** Whether each image was loaded and drawn. */
export function hasDrawn(images) {
  return images.map((image) => image.complete && image.naturalWidth > 0);
}

export function isFocused(element) {
  return element.matches(":focus");
}

/** The pixels above the window. */
export function scrolled() {
  return window.scrollY;
}

/** The buttons and fields that can be pressed where they are shown. */
export function pressable() {
  const isShown = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    return { isInside: y < innerHeight && x < innerWidth, isOnTop: element.contains(document.elementFromPoint(x, y)) };
  };
  const all = [...document.querySelectorAll("main button, main input, main select, nav button")];
  globalThis.seen ??= all.filter((element) => isShown(element).isOnTop);
  const covered = globalThis.seen.filter(
    (element) => element.isConnected && isShown(element).isInside && !isShown(element).isOnTop,
  );
  return { seen: globalThis.seen.length, covered: covered.map((element) => element.textContent) };
}

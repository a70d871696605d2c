// Functions that the harness sends to the page as text, to watch it.

/** Notes when the page is useful, and each look that it has before. Runs before any script of the page. */
export function watchStart() {
  const start = { useful: undefined, looks: [], shift: 0 };
  start.isUseful = new Promise((resolve) => {
    start.become = resolve;
  });
  window.claudikinsStart = start;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) start.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  const isUseful = () => document.querySelector("main .panel") !== null;
  const painted = () => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      start.useful ??= performance.now();
      start.become();
    };
    requestAnimationFrame(() => channel.port2.postMessage(undefined));
  };
  const watch = new MutationObserver(() => {
    if (!isUseful()) return;
    watch.disconnect();
    painted();
  });
  watch.observe(document, { childList: true, subtree: true });
}

/** Notes the texts that are seen before the page is useful. It slows the page down. */
export function watchLooks() {
  const look = () => {
    const start = window.claudikinsStart;
    const text = document.body?.innerText.trim() ?? "";
    if (start.useful !== undefined || document.querySelector("main .panel")) return;
    if (text !== "" && start.looks.at(-1) !== text) start.looks.push(text);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Waits until the page is useful, and until the browser knows when it has painted it. */
export async function startOfPage() {
  const paint = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
    }).observe({ type: "paint", buffered: true });
  });
  await window.claudikinsStart.isUseful;
  const firstPaint = await paint;
  const { useful, looks, shift } = window.claudikinsStart;
  return { useful: Math.max(useful, firstPaint), looks, shift, firstPaint };
}

/** Notes each frame and each long task until `framesSeen` is called. */
export function watchFrames() {
  const seen = { frames: [], tasks: [], isOn: true };
  window.claudikinsFrames = seen;
  seen.observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.tasks.push(duration);
  });
  seen.observer.observe({ entryTypes: ["longtask"] });
  const next = (at) => {
    seen.frames.push(at);
    if (seen.isOn) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

export function framesSeen() {
  const seen = window.claudikinsFrames;
  seen.isOn = false;
  for (const { duration } of seen.observer.takeRecords()) seen.tasks.push(duration);
  seen.observer.disconnect();
  return {
    frames: seen.frames,
    longestTaskMs: Math.max(0, ...seen.tasks),
    elements: document.querySelectorAll("*").length,
  };
}

/**
 * A thread that pings the local page. The main thread of the fuzzer reads large pages, and would notice the answers late. A message is the
 * address and the headers; the answer is the number of milliseconds. It comes even if the daemon has ended meanwhile.
 */
declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<{ url: string; headers: Record<string, string> }>) => {
  const startedAt = performance.now();
  await fetch(data.url, { headers: data.headers }).then(
    (answer) => answer.text(),
    () => undefined,
  );
  self.postMessage(performance.now() - startedAt);
};

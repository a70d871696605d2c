/** The names that TypeScript's types of browsers declare, as far as servers may have them. A test compares them with these types. */

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** A namespace may have the name of a function. */
export const browserFunctions = words(
  "addEventListener alert blur cancelAnimationFrame cancelIdleCallback captureEvents close confirm createImageBitmap dispatchEvent " +
    "fetch focus getComputedStyle getSelection matchMedia moveBy moveTo open postMessage print prompt releaseEvents " +
    "removeEventListener reportError requestAnimationFrame requestIdleCallback resizeBy resizeTo scroll scrollBy scrollTo stop toString",
);

/** Variables, and classes whose name is one word. */
export const browserVariables = words(
  "caches clientInformation closed cookieStore crossOriginIsolated customElements devicePixelRatio document event external " +
    "frameElement frames history indexedDB innerHeight innerWidth isSecureContext length localStorage location locationbar menubar " +
    "navigation navigator opener orientation origin originAgentCluster outerHeight outerWidth pageXOffset pageYOffset parent " +
    "personalbar scheduler screen screenLeft screenTop screenX screenY scrollX scrollY scrollbars sessionStorage speechSynthesis status " +
    "statusbar toolbar top visualViewport webkitURL window Animation Attr Audio Blob Cache Clipboard Comment Credential Crypto " +
    "Document Element External File GPU Gamepad Geolocation Headers Highlight History Image Location Lock Navigation Navigator Node " +
    "Notification Option Performance Permissions Plugin Range Request Response Sanitizer Scheduler Screen Selection Storage Text Touch " +
    "Window Worker Worklet",
);

/** Constants, which nothing else may declare. */
export const notDeclarable = words("name");

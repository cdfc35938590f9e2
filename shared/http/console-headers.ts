/** The documents are below this path of the console's address. */
export const docsPath = '/docs';

/** Source of a regular expression that matches every path of the documents. */
const docsPaths = '^/docs(?:/[\\w./@-]*)?$';

const isOfDocs = new RegExp(docsPaths);

export const isDocs = (path: string): boolean => isOfDocs.test(path);

/** Returns the file of a path of the documents: pages are named without `.html`. */
export const docsFileAt = (path: string): string => {
  if (path === docsPath) return `${docsPath}/index.html`;
  if (path.endsWith('/')) return `${path}index.html`;
  return /\.\w+$/.test(path) ? path : `${path}.html`;
};

/** VitePress colors code by style attributes. All scripts are files. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join('; ');

/** Origins, without a trailing slash, that the console calls or shows other than its own. */
export interface ConsolePlaces {
  /** Public files: the files' own address first, then the addresses that it redirects to. */
  readonly files: readonly string[];
  readonly uploads: string;
  readonly api: string;
}

/** Content security policy of the console: no inline code, no foreign script, no framing. */
export const consolePolicy = ({ files, uploads, api }: ConsolePlaces): string => {
  const shown = files.join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' data: blob: ${shown}`,
    `connect-src ${[...new Set(["'self'", ...files, uploads, api])].join(' ')}`,
    `frame-src 'self' blob: ${shown}`,
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
  ].join('; ');
};

export const pageHeaders = (policy: string) => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

/** Files with a content hash in their name never change; the page itself is revalidated. */
export const consoleCacheControl = (immutable: boolean): string =>
  immutable ? 'public, max-age=31536000, immutable' : 'no-cache';

/** Source of a regular expression that matches the paths of files. Any other path that a browser opens is the page. */
const filePath = '^/(?:assets/[\\w.-]+|icon\\.svg|console\\.json)$';

const isFile = new RegExp(filePath);

/** Returns the file for a GET outside `/api`, or `undefined`. */
export const consoleFileAt = (path: string, accept: string): string | undefined => {
  if (isDocs(path)) return docsFileAt(path);
  if (isFile.test(path)) return path;
  return accept.includes('text/html') ? '/index.html' : undefined;
};

/** The same rule as a CloudFront Function. The bucket returns 404 for unknown files. */
export const consolePathFunction = `
var file = new RegExp(${JSON.stringify(filePath)});
var docs = new RegExp(${JSON.stringify(docsPaths)});
function handler(event) {
  var request = event.request;
  var accept = request.headers.accept;
  if (docs.test(request.uri)) {
    if (request.uri === '${docsPath}') request.uri += '/';
    if (/\\/$/.test(request.uri)) request.uri += 'index.html';
    else if (!/\\.\\w+$/.test(request.uri)) request.uri += '.html';
  } else if (!file.test(request.uri) && accept && accept.value.indexOf('text/html') >= 0) request.uri = '/index.html';
  return request;
}
`.trim();

/**
 * Passes the viewer's address to the gateway, which sees only CloudFront's. Overwrites a header that the viewer sent.
 */
export const viewerAddressFunction = `
function handler(event) {
  event.request.headers['x-viewer-address'] = { value: event.viewer.ip };
  return event.request;
}
`.trim();

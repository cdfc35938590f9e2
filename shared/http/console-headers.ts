/**
 * Where the pages of the console send to and show from, besides their own origin: origins without a slash at the end.
 */
export interface ConsolePlaces {
  /** Where the public files are read: their own address first, then those that it redirects to. */
  readonly files: readonly string[];
  /** Where the signed addresses of uploads are. */
  readonly uploads: string;
  /** The public API, whose routes the pages try out. */
  readonly api: string;
}

/** What the pages of the console may do (contract 8, "Policy"): nothing inline, no foreign script, no frame around. */
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

/** What every page and file of the console carries. */
export const pageHeaders = (policy: string) => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});

/** What browsers and CloudFront may keep: what is named after its content for ever, the page itself not unasked. */
export const consoleCacheControl = (immutable: boolean): string =>
  immutable ? 'public, max-age=31536000, immutable' : 'no-cache';

/** Source of a regular expression: the paths of files. Whatever else a browser opens as a page is the console. */
const filePath = '^/(?:assets/[\\w.-]+|icon\\.svg|console\\.json)$';

const isFile = new RegExp(filePath);

/** The file of the site that a GET outside of `/api` answers; `undefined` where there is none. */
export const consoleFileAt = (path: string, accept: string): string | undefined => {
  if (isFile.test(path)) return path;
  return accept.includes('text/html') ? '/index.html' : undefined;
};

/** The same rule in the language of CloudFront Functions; the bucket says 404 for what it has not. */
export const consolePathFunction = `
var file = new RegExp(${JSON.stringify(filePath)});
function handler(event) {
  var request = event.request;
  var accept = request.headers.accept;
  if (!file.test(request.uri) && accept && accept.value.indexOf('text/html') >= 0) request.uri = '/index.html';
  return request;
}
`.trim();

/** Tells the API who asks, over whatever the viewer says of it: the gateway sees CloudFront's own address. */
export const viewerAddressFunction = `
function handler(event) {
  event.request.headers['x-viewer-address'] = { value: event.viewer.ip };
  return event.request;
}
`.trim();

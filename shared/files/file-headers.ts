/**
 * What a browser may show in its window: pictures, sound, films, fonts and plain text. It is matched against a whole
 * `Content-Type`, in which a comma and a slash would begin a second type that browsers prefer. Anything else, HTML,
 * SVG, XML and scripts above all, is handed out as a download.
 */
const shown = [
  'image/(?:apng|avif|bmp|gif|heic|heif|jpeg|jpg|jxl|png|tiff|webp|x-icon|vnd\\.microsoft\\.icon)',
  '(?:audio|video|font)/[a-z0-9.-]+',
  'text/(?:css|csv|markdown|plain)',
  'application/json',
];

/** Source of a regular expression without regard to case, in the language of JavaScript. */
const shownTypes = `^(?:${shown.join('|')}) *(?:;(?:[^,]*|[^/]*))?$`;

const mayBeShown = new RegExp(shownTypes, 'i');

/** What every answer of the origin of public files carries, whatever the file is. */
export const fileHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'accept-ranges, content-length, content-range, etag',
} as const;

/** A path is never given to a second file. Not longer than a day, so that a deleted file is gone by then. */
export const fileCacheControl = 'public, max-age=86400, immutable';

/** Of what a link opens: for its reader alone, and not longer than CloudFront shows what was deleted. */
export const linkCacheControl = 'private, max-age=300';

/** Source of a regular expression for what the service stores with a file, in which its name is all that differs. */
const storedName = `^inline; (filename="[A-Za-z0-9._-]{1,100}"(?:; filename\\*=UTF-8''[A-Za-z0-9._~!%-]{1,1800})?)$`;

const asStored = new RegExp(storedName);

/**
 * The `Content-Disposition` of a file with a content type, with the name in the `stored` one; `undefined` if browsers
 * may show the file and no name is known.
 */
export const fileDisposition = (contentType: string, stored = ''): string | undefined => {
  const kind = mayBeShown.test(contentType) ? 'inline' : 'attachment';
  const [, name] = asStored.exec(stored) ?? [];
  return name === undefined ? (kind === 'inline' ? undefined : kind) : `${kind}; ${name}`;
};

/**
 * The same rule in the language of CloudFront Functions, run on every answer to a viewer. Of a stored
 * `Content-Disposition` only the name goes out, and only as the service writes it. A 304 has no type, and leaves what
 * the browser knows as it is.
 */
export const dispositionFunction = `
var shown = new RegExp(${JSON.stringify(shownTypes)}, 'i');
var named = new RegExp(${JSON.stringify(storedName)});
function handler(event) {
  var headers = event.response.headers;
  var type = headers['content-type'];
  var isShown = type && !type.multiValue && shown.test(type.value);
  var stored = headers['content-disposition'];
  var found = stored && !stored.multiValue && named.exec(stored.value);
  var value = (isShown ? 'inline' : 'attachment') + (found ? '; ' + found[1] : '');
  if ((isShown && !found) || event.response.statusCode === 304) delete headers['content-disposition'];
  else headers['content-disposition'] = { value: value };
  return event.response;
}
`.trim();

/**
 * Types that browsers may show: images, audio, video, fonts and plain text. Matched against the whole `Content-Type`,
 * because browsers prefer a second type after a comma or slash. HTML, SVG, XML and scripts are downloads.
 */
const shown = [
  'image/(?:apng|avif|bmp|gif|heic|heif|jpeg|jpg|jxl|png|tiff|webp|x-icon|vnd\\.microsoft\\.icon)',
  '(?:audio|video|font)/[a-z0-9.-]+',
  'text/(?:css|csv|markdown|plain)',
  'application/json',
];

const shownTypes = `^(?:${shown.join('|')}) *(?:;(?:[^,]*|[^/]*))?$`;

const mayBeShown = new RegExp(shownTypes, 'i');

/** Headers of every response of the files' origin. */
export const fileHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'accept-ranges, content-length, content-range, etag',
} as const;

/** A path is never reused. A deleted file disappears within a day. */
export const fileCacheControl = 'public, max-age=86400, immutable';

/** For signed links: only for their reader, and no longer than CloudFront caches deleted files. */
export const linkCacheControl = 'private, max-age=300';

/** What we store as `Content-Disposition`; only the name differs. */
const storedName = `^inline; (filename="[A-Za-z0-9._-]{1,100}"(?:; filename\\*=UTF-8''[A-Za-z0-9._~!%-]{1,1800})?)$`;

const asStored = new RegExp(storedName);

/** `undefined` if browsers may show the file and the `stored` header has no name. */
export const fileDisposition = (contentType: string, stored = ''): string | undefined => {
  const kind = mayBeShown.test(contentType) ? 'inline' : 'attachment';
  const [, name] = asStored.exec(stored) ?? [];
  return name === undefined ? (kind === 'inline' ? undefined : kind) : `${kind}; ${name}`;
};

/** The same as a CloudFront function. A 304 has no type, so its header is removed. */
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

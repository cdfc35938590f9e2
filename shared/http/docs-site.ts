/** The documents are below this path of the console's address. */
export const docsPath = '/docs';

/** Source of a regular expression that matches every path of the documents. */
export const docsPaths = '^/docs(?:/[\\w./@-]*)?$';

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

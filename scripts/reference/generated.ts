/** First line of the pages that `npm run docs` writes. */
export const generated = '<!-- Written by `npm run docs`. -->\n\n';

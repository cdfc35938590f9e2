/** The most addresses of `to`, and of `replyTo`. */
export const maxRecipients = 50;

/** What mail servers take on one line, in characters. */
export const maxSubjectLength = 998;

/** A text of one line: a line break in a header would begin another one. */
export const oneLine = /^[^\p{Cc}\u2028\u2029]*$/u;

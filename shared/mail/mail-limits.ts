/** The most addresses of `to`, and of `replyTo`. */
export const maxRecipients = 50;

/** What mail servers take on one line, in characters. */
export const maxSubjectLength = 998;

/** The most addresses of `to`, and of `replyTo`. */
export const mostRecipients = 50;

/** What mail servers take on one line, in characters. */
export const longestSubject = 998;

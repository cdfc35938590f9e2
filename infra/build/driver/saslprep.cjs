// Wraps `@mongodb-js/saslprep`. Printable ASCII needs no preparation (RFC 4013), and unpacking the tables for other
// passwords takes longer than the rest of the driver's start.
exports.saslprep = (text, options) =>
  /^[ -~]*$/.test(text) ? text : require('@mongodb-js/saslprep').saslprep(text, options);

// Stands before `@mongodb-js/saslprep` in the bundles: printable ASCII stays as it is (RFC 4013), and the tables for all
// other passwords take longer to unpack than anything else that the driver does when it is loaded.
exports.saslprep = (text, options) =>
  /^[ -~]*$/.test(text) ? text : require('@mongodb-js/saslprep').saslprep(text, options);

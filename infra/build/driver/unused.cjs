// Replaces the files in left-out.ts. Every export is a class that has no instances and throws when it is used.
module.exports = new Proxy(
  {},
  {
    get: (_, name) =>
      class {
        constructor() {
          throw new Error(`${String(name)} of the MongoDB driver was asked for, which the bundles leave out`);
        }
      },
  },
);

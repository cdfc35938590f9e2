// Stands in for what left-out.ts names: every name is a class that nothing is an instance of, and that throws if used.
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

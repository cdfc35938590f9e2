const needed = 24;

/** Ends the process with advice when it runs on an older Node; every entry point calls it first. */
export const requireNode = (): void => {
  if (Number.parseInt(process.versions.node, 10) >= needed) return;
  process.stderr.write(
    `Basalt needs Node ${needed} or later; this is ${process.version}.\n` +
      'On Linux `npm start` brings its own: use the npm scripts. Elsewhere install Node 24 from https://nodejs.org.\n',
  );
  process.exit(1);
};

/** Ends a command that was not given what it needs. */
export const refuse = (message: string): never => {
  console.error(message);
  process.exit(2);
};

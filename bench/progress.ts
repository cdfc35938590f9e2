/** Prints the current step: in one overwritten line in a terminal, otherwise one line each. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
  else process.stderr.write(`${text}\n`);
};

export const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
};

/** Writes what is going on: in one line that is overwritten at a terminal, else a line each. */
export const progress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`);
  else process.stderr.write(`${text}\n`);
};

export const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
};

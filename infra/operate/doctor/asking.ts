/** Asks by a client of AWS and closes it. */
export const asking = async <C extends { destroy(): void }, T>(
  client: C,
  ask: (client: C) => Promise<T>,
): Promise<T> => {
  try {
    return await ask(client);
  } finally {
    client.destroy();
  }
};

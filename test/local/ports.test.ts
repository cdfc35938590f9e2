import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen, preferPort, probePort } from '../../infra/local/ports.ts';

test('a free port is given out once: what is started there may take a moment to listen', async () => {
  const ports: number[] = [];
  // The system draws from some thousands of ports: as many as this meet one twice.
  for (let n = 0; n < 600; n++) ports.push(await probePort(0));
  expect(new Set(ports).size).toBe(ports.length);
});

test('a port that somebody has is named with its setting, and not preferred', async () => {
  const server = createServer();
  const taken = await listen(server, 0);
  try {
    await expect(probePort(taken, 'PORT')).rejects.toThrow(`Port ${taken} is taken by another program.`);
    expect(await preferPort(taken)).not.toBe(taken);
    expect(await preferPort(65_536)).toBeLessThan(65_536);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen, onFreePorts, preferPort, probePort } from '../../infra/local/ports.ts';
import { StartProblem } from '../../infra/local/problem.ts';

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

test('a port that another program takes between looking and listening is looked for again, at most twice', async () => {
  const raced = () => new StartProblem('The file store did not start.\nPort 35765 is taken by another program.');
  let tries = 0;
  const third = await onFreePorts(async () => {
    tries += 1;
    if (tries < 3) throw raced();
    return 'listens';
  });
  expect(third).toBe('listens');
  await expect(onFreePorts(() => Promise.reject(raced()))).rejects.toThrow('is taken');
  let others = 0;
  const other = onFreePorts(async () => {
    others += 1;
    throw new StartProblem('The disk is full.');
  });
  await expect(other).rejects.toThrow('The disk is full.');
  expect(others).toBe(1);
});

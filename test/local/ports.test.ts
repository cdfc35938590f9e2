import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen, onFreePorts, preferPort, probePort } from '../../infra/local/ports.ts';
import { StartProblem } from '../../infra/local/problem.ts';

test('free port is returned only one time, because its owner may listen later', async () => {
  const ports: number[] = [];
  // The system chooses from some thousands of ports, so it repeats one within this many.
  for (let n = 0; n < 600; n++) ports.push(await probePort(0));
  expect(new Set(ports).size).toBe(ports.length);
});

test('port is rejected with its number, and not preferred, when another program uses it', async () => {
  const server = createServer();
  const taken = await listen(server, 0);
  try {
    await expect(probePort(taken, 'PORT')).rejects.toThrow(`Port ${taken} is used by another program.`);
    expect(await preferPort(taken)).not.toBe(taken);
    expect(await preferPort(65_536)).toBeLessThan(65_536);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test('servers are started again, at most twice, when another program takes a port that was free', async () => {
  const taken = () => new StartProblem('The file store did not start.\nPort 35765 is used by another program.');
  let tries = 0;
  const third = await onFreePorts(async () => {
    tries += 1;
    if (tries < 3) throw taken();
    return 'listens';
  });
  expect(third).toBe('listens');
  await expect(onFreePorts(() => Promise.reject(taken()))).rejects.toThrow('is used');
  let others = 0;
  const other = onFreePorts(async () => {
    others += 1;
    throw new StartProblem('The disk is full.');
  });
  await expect(other).rejects.toThrow('The disk is full.');
  expect(others).toBe(1);
});

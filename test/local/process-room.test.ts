import { describe, expect, test } from 'vitest';
import { ProcessRoom } from '../../infra/local/process-room.ts';

/** Processes in a room, by name; one that is ended gives its room back at once. */
const roomOf = (most: number) => {
  const room = new ProcessRoom(most);
  const ended: string[] = [];
  const processes = new Map<string, object>();
  const processOf = (name: string): object => {
    const known = processes.get(name) ?? { name };
    processes.set(name, known);
    return known;
  };
  return {
    ended,
    take: () => room.take(),
    give: (name: string) => room.give(processOf(name)),
    busy: (name: string) => room.busy(processOf(name)),
    idle: (name: string) =>
      room.idle(processOf(name), () => {
        ended.push(name);
        room.give(processOf(name));
      }),
  };
};

describe('room for two processes', () => {
  test('is given to two, and to a third once one has ended', async () => {
    const room = roomOf(2);
    await room.take();
    await room.take();
    let third = false;
    const taken = room.take().then(() => {
      third = true;
    });
    await Promise.resolve();
    expect(third).toBe(false);
    room.give('a');
    await taken;
    expect(third).toBe(true);
  });

  test('is made by the one that has been idle for longest', async () => {
    const room = roomOf(2);
    await room.take();
    await room.take();
    room.idle('a');
    room.idle('b');
    room.busy('a');
    room.idle('a');
    await room.take();
    expect(room.ended).toEqual(['b']);
  });

  test('is made by the next that becomes idle, where all are busy, and by no more than are needed', async () => {
    const room = roomOf(2);
    await room.take();
    await room.take();
    const taken = room.take();
    room.idle('b');
    room.idle('a');
    await taken;
    expect(room.ended).toEqual(['b']);
  });
});

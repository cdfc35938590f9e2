import { describe, expect, test } from 'vitest';
import { ProcessRoom } from '../../infra/local/bundled.ts';

/** A room whose processes have names and end immediately. */
const roomOf = (max: number) => {
  const room = new ProcessRoom(max);
  const ended: string[] = [];
  const processes = new Map<string, object>();
  const processOf = (name: string): object => {
    const known = processes.get(name) ?? { name };
    processes.set(name, known);
    return known;
  };
  return {
    ended,
    acquire: () => room.acquire(),
    release: (name: string) => room.release(processOf(name)),
    busy: (name: string) => room.busy(processOf(name)),
    idle: (name: string) =>
      room.idle(processOf(name), () => {
        ended.push(name);
        room.release(processOf(name));
      }),
  };
};

describe('process room for two', () => {
  test('admits a third process when one of two has ended', async () => {
    const room = roomOf(2);
    await room.acquire();
    await room.acquire();
    let third = false;
    const taken = room.acquire().then(() => {
      third = true;
    });
    await Promise.resolve();
    expect(third).toBe(false);
    room.release('a');
    await taken;
    expect(third).toBe(true);
  });

  test('ends the process that has been idle for longest when a third one needs room', async () => {
    const room = roomOf(2);
    await room.acquire();
    await room.acquire();
    room.idle('a');
    room.idle('b');
    room.busy('a');
    room.idle('a');
    await room.acquire();
    expect(room.ended).toEqual(['b']);
  });

  test('ends only the first process that becomes idle when all are busy', async () => {
    const room = roomOf(2);
    await room.acquire();
    await room.acquire();
    const taken = room.acquire();
    room.idle('b');
    room.idle('a');
    await taken;
    expect(room.ended).toEqual(['b']);
  });
});

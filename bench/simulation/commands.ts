import { commandChannel, type DatabaseCommand } from '../../shared/persistence/mongo-commands.ts';

/** Counts the table's commands during `act`. */
export type CountWrites = (act: () => Promise<unknown>) => Promise<number>;

let seen = 0;
commandChannel.subscribe((message) => {
  if ((message as DatabaseCommand).system === 'dynamodb') seen++;
});

export const countWrites: CountWrites = async (act) => {
  const before = seen;
  await act();
  return seen - before;
};

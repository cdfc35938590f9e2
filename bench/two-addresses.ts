// two-addresses.ts ADDRESS ADDRESS [ROUNDS]: requests both alternately, and prints both medians in ms and their ratio.
const [first = '', second = '', rounds = '1500'] = process.argv.slice(2);

const timeOf = async (address: string): Promise<number> => {
  const start = performance.now();
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  await answer.arrayBuffer();
  return performance.now() - start;
};

const medianOf = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

const times: [number[], number[]] = [[], []];
for (let round = 0; round < Number(rounds); round++) {
  times[0].push(await timeOf(first));
  times[1].push(await timeOf(second));
}
const [one, other] = [medianOf(times[0]), medianOf(times[1])];
console.log(`${one.toFixed(2)} ms, ${other.toFixed(2)} ms: ${(other / one).toFixed(3)}`);

import { useEffect, useState } from 'preact/hooks';
import { Problem } from '../../api/problem.ts';
import { files } from '../../text/files.ts';
import { bytesText } from '../../ui/bytes.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';

const mostBytes = 64 * 1024;

const beginningOf = async (address: string): Promise<string> => {
  const answer = await fetch(address, { headers: { range: `bytes=0-${mostBytes - 1}` } });
  if (!answer.ok) throw new Problem(answer.status, {});
  // An incomplete last character is left out.
  return new TextDecoder().decode(await answer.arrayBuffer(), { stream: true });
};

/** The beginning of a text file. Browsers do not show some text types, such as CSV, in a frame. */
export const TextPreview = ({
  address,
  size,
  label,
}: {
  readonly address: string;
  readonly size: number;
  readonly label: string;
}) => {
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  useEffect(() => {
    let isGone = false;
    beginningOf(address).then(
      (found) => !isGone && setText(found),
      (error: unknown) => !isGone && setProblem(error instanceof Problem ? error : new Problem(0, {})),
    );
    return () => {
      isGone = true;
    };
  }, [address]);
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section class="card" aria-label={label} aria-busy={text === undefined} tabIndex={0}>
        <pre class="whole" dir="auto">
          {text}
        </pre>
      </section>
      {size > mostBytes && <p class="muted small">{files.beginning(bytesText(mostBytes))}</p>}
    </>
  );
};

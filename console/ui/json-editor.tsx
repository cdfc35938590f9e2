import { useEffect, useRef, useState } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';
import { useMended } from './form.tsx';
import type { mountEditor } from './json-editor-view.ts';
import { ProblemNote } from './problem-note.tsx';
import { Wrong } from './wrong.tsx';

interface Props {
  readonly label: string;
  readonly text: string;
  /** Absent: the text can be read, searched and folded, not changed. */
  readonly onInput?: (text: string) => void;
  /** Why the text cannot be read. */
  readonly unread?: string | undefined;
  /** What was said of it when it was saved. */
  readonly wrong?: string | undefined;
}

/** JSON of any size, in an editor that is loaded when it is first shown. */
export const JsonEditor = ({ label, text, onInput: onText, unread, wrong: said }: Props) => {
  const [known, mend] = useMended(said);
  const wrong = unread ?? known;
  const onInput =
    onText &&
    ((next: string) => {
      mend();
      onText(next);
    });
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<ReturnType<typeof mountEditor> | undefined>(undefined);
  const now = useRef({ text, onInput });
  now.current = { text, onInput };
  const typed = useRef(text);
  const [problem, setProblem] = useState<unknown>(undefined);
  const readOnly = onInput === undefined;
  useEffect(() => {
    let left = false;
    import('./json-editor-view.ts').then(({ mountEditor: mount }) => {
      if (left || !host.current) return;
      editor.current = mount(host.current, {
        label,
        text: now.current.text,
        readOnly,
        onInput: (next) => {
          typed.current = next;
          now.current.onInput?.(next);
        },
      });
    }, setProblem);
    return () => {
      left = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [label, readOnly]);
  useEffect(() => {
    // What was typed comes back as the text, perhaps after more was typed.
    if (text !== typed.current) editor.current?.show(text);
    typed.current = text;
  }, [text]);
  if (problem !== undefined) return <ProblemNote problem={problemOf(problem)} />;
  return (
    <div class="field">
      <div ref={host} class="json-editor" data-wrong={wrong ? '' : undefined} />
      <Wrong text={wrong} />
    </div>
  );
};

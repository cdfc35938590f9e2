import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';
import { useMended } from './form.tsx';
import type { NamedPart } from './json-completion.ts';
import type { mountEditor, WrongValue } from './json-editor-view.ts';
import { ProblemNote } from './problem-note.tsx';
import { Wrong } from './wrong.tsx';

export type JsonEditorHandle = ReturnType<typeof mountEditor>;

interface Props {
  readonly label: string;
  readonly text: string;
  /** Absent for a read-only editor. */
  readonly onInput?: (text: string) => void;
  /** Why the text is not valid. */
  readonly unread?: string | undefined;
  /** The service's error when it was saved. */
  readonly wrong?: string | undefined;
  /** The value inside the text that `wrong` is about. */
  readonly wrongValue?: WrongValue | undefined;
  /** The suggestions. Either always or never given. */
  readonly parts?: readonly NamedPart[];
  /** A few lines high. */
  readonly low?: true;
  /** Called with the editor once it is mounted. */
  readonly onReady?: (editor: JsonEditorHandle) => void;
}

/** A JSON editor for texts of any size, loaded when it is first shown. */
export const JsonEditor = (props: Props) => {
  const { label, text, onInput: onText, unread, wrong: said, wrongValue, parts, low, onReady } = props;
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
  const now = useRef({ text, onInput, parts, onReady });
  now.current = { text, onInput, parts, onReady };
  const typed = useRef(text);
  const [problem, setProblem] = useState<unknown>(undefined);
  const readOnly = onInput === undefined;
  const hasParts = parts !== undefined;
  useEffect(() => {
    let left = false;
    import('./json-editor-view.ts').then(({ mountEditor: mount }) => {
      if (left || !host.current) return;
      const mounted = mount(host.current, {
        label,
        text: now.current.text,
        readOnly,
        parts: hasParts ? () => now.current.parts ?? [] : undefined,
        onInput: (next) => {
          typed.current = next;
          now.current.onInput?.(next);
        },
      });
      editor.current = mounted;
      now.current.onReady?.(mounted);
    }, setProblem);
    return () => {
      left = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, [label, readOnly, hasParts]);
  // Must run in the same task as the render. An effect after the paint would compare the text with newer input and
  // undo it.
  useLayoutEffect(() => {
    if (text !== typed.current) editor.current?.show(text);
    typed.current = text;
  }, [text]);
  const { path, message } = wrongValue ?? {};
  useEffect(() => {
    editor.current?.mark(path === undefined || message === undefined ? undefined : { path, message });
  }, [path, message]);
  if (problem !== undefined) return <ProblemNote problem={problemOf(problem)} />;
  return (
    <div class="field">
      <div ref={host} class={low ? 'json-editor low' : 'json-editor'} data-wrong={wrong ? '' : undefined} />
      <Wrong text={wrong} />
    </div>
  );
};

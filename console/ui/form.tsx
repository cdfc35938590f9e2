import { useSignal } from '@preact/signals';
import { type ComponentChildren, createContext, type TargetedSubmitEvent } from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import { Button, isSecondClick } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { leaving, useUnsaved } from './unsaved.tsx';

interface Props {
  readonly act: string;
  readonly onSubmit: () => Promise<void>;
  /** The fields; handed what the service said of each, by its path. */
  readonly children: (wrong: (field: string) => string | undefined) => ComponentChildren;
  readonly onCancel?: () => void;
  readonly cancel?: string;
  /** False as long as there is nothing to send. */
  readonly ready?: boolean;
  /** What is typed takes a while, so that it is asked about before it is left. */
  readonly guarded?: true;
  /** What is typed was restored, so that it is asked about, too. */
  readonly touched?: boolean;
  /** Its first field has the focus as soon as it is there. */
  readonly begins?: true;
  /** What the act would do, beside which it stays in sight; ⌘S does it, too. */
  readonly doing?: ComponentChildren;
}

/**
 * What `input` says of a tick `change` repeats, and its field takes it over only then: drawn anew before, it is undone.
 */
const isTick = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type);

/** What the last try of a form failed with. */
const Failure = createContext<Problem | undefined>(undefined);

/** What the service said of a value, until the value changes; and what to call when it does. */
export const useMended = (wrong: string | undefined): readonly [wrong: string | undefined, mend: () => void] => {
  const failure = useContext(Failure);
  const mended = useSignal<Problem | undefined>(undefined);
  const mend = () => {
    mended.value = failure;
  };
  return [failure !== undefined && mended.value === failure ? undefined : wrong, mend];
};

const isSameAddress = (here: URL, to: URL): boolean => here.href === to.href;

/** Fields and one act; it is done once at a time, and what fails stands at the field that it is about. */
export const Form = ({
  act,
  onSubmit,
  children,
  onCancel,
  cancel,
  ready = true,
  guarded,
  touched = false,
  begins,
  doing,
}: Props) => {
  const form = useRef<HTMLFormElement>(null);
  const busy = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  /** Fields that are emptied by what was done are not wrong because of it. */
  const done = useSignal(false);
  const typed = useSignal(false);
  useUnsaved(guarded === true && (typed.value || touched), isSameAddress);
  const submit = async () => {
    busy.value = true;
    problem.value = undefined;
    try {
      await onSubmit();
      done.value = true;
      typed.value = false;
    } catch (error) {
      problem.value = problemOf(error);
    } finally {
      busy.value = false;
    }
  };
  const onFormSubmit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!busy.value) void submit();
  };
  const onTyped = ({ type, target }: Event) => {
    if (isTick(target) !== (type === 'change')) return;
    done.value = false;
    typed.value = true;
  };
  useLayoutEffect(() => {
    if (begins) form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, [begins]);
  // Who is told of a field is led to it, which may be out of sight.
  useEffect(() => {
    if (problem.value) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [problem.value]);
  const saves = doing !== undefined;
  const shortcuts = useMemo<Shortcuts>(
    () => (saves ? { save: () => form.current?.querySelector<HTMLButtonElement>('[type=submit]')?.click() } : {}),
    [saves],
  );
  useShortcuts(shortcuts);
  const fields = problem.value?.fields ?? [];
  const shown = new Set<string>();
  const wrong = (field: string): string | undefined => {
    const found = fields.filter((one) => one.field === field || one.field.startsWith(`${field}.`));
    for (const one of found) shown.add(one.field);
    return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ');
  };
  const content = children(wrong);
  const note = problem.value && (fields.length === 0 || fields.some(({ field }) => !shown.has(field))) && (
    <ProblemNote problem={problem.value} />
  );
  return (
    <form
      ref={form}
      class="stack"
      data-done={done.value ? '' : undefined}
      onSubmit={onFormSubmit}
      onInput={onTyped}
      onChange={onTyped}
      aria-busy={busy.value}
    >
      <Failure.Provider value={problem.value}>{content}</Failure.Provider>
      {!saves && note}
      <div class={saves ? 'save-bar' : undefined}>
        {saves && note}
        {doing}
        <div class="row">
          <Button
            type="submit"
            kind="main-act"
            disabled={busy.value || !ready}
            onClick={(event) => {
              if (isSecondClick(event.detail)) event.preventDefault();
            }}
          >
            {act}
          </Button>
          {onCancel && (
            <Button kind="plain" onClick={guarded ? () => leaving(onCancel) : onCancel}>
              {cancel}
            </Button>
          )}
        </div>
      </div>
    </form>
  );
};

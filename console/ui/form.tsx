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
  /** `danger` is for an action that cannot be undone. */
  readonly kind?: 'danger';
  readonly onSubmit: () => Promise<void>;
  /** The fields. They receive the service's errors, by path. */
  readonly children: (wrong: (field: string) => string | undefined) => ComponentChildren;
  readonly onCancel?: () => void;
  readonly cancel?: string;
  /** False while there is nothing to send. */
  readonly ready?: boolean;
  /** Asks before the page is left with unsaved input. */
  readonly guarded?: true;
  /** The input was restored from a draft, so the page asks before it is left. */
  readonly touched?: boolean;
  /** The first field gets the focus. */
  readonly begins?: true;
  /** A preview of what the action will do, kept in view. ⌘S submits too. */
  readonly doing?: ComponentChildren;
}

/** For a checkbox `change` repeats what `input` reported, and a re-render between the two would undo the click. */
const isTick = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement && ['checkbox', 'radio'].includes(target.type);

/** The error of the last submit. */
const Failure = createContext<Problem | undefined>(undefined);

/** The service's error for a value, until the value changes; and a function to call when it does. */
export const useMended = (wrong: string | undefined): readonly [wrong: string | undefined, mend: () => void] => {
  const failure = useContext(Failure);
  const mended = useSignal<Problem | undefined>(undefined);
  const mend = () => {
    mended.value = failure;
  };
  return [failure !== undefined && mended.value === failure ? undefined : wrong, mend];
};

/** Fields show why they are invalid, so that the browser no longer moves the focus to the first of them. */
const focusFirstInvalid = ({ target, currentTarget }: Event): void => {
  const first = (currentTarget as HTMLFormElement).querySelector<HTMLElement>(
    'input:invalid, select:invalid, textarea:invalid',
  );
  if (first === target) first?.focus();
};

const isSameAddress = (here: URL, to: URL): boolean => here.href === to.href;

/** A form with one action, submitted one at a time. Errors are shown at their fields. */
export const Form = ({
  act,
  kind,
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
  /** Fields emptied after a success are not shown as invalid. */
  const done = useSignal(false);
  const typed = useSignal(false);
  const inputs = useRef(0);
  /** The element that had the focus when the form was submitted. */
  const focused = useRef<HTMLElement | null>(null);
  useUnsaved(guarded === true && (typed.value || touched), isSameAddress);
  const submit = async () => {
    busy.value = true;
    problem.value = undefined;
    const before = inputs.current;
    focused.current = document.activeElement as HTMLElement | null;
    try {
      await onSubmit();
      // What was typed meanwhile is not saved.
      if (inputs.current === before) {
        done.value = true;
        typed.value = false;
      }
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
    inputs.current += 1;
  };
  useLayoutEffect(() => {
    if (begins) form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus();
  }, [begins]);
  // Moves the focus to the first field with an error, which may be out of view.
  useEffect(() => {
    if (!problem.value) return;
    const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    if (invalid) invalid.focus();
    else if (document.activeElement === document.body) focused.current?.focus();
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
      // A form that closes after its action would lose what is typed meanwhile.
      inert={onCancel !== undefined && busy.value}
      data-done={done.value ? '' : undefined}
      onSubmit={onFormSubmit}
      onInvalidCapture={focusFirstInvalid}
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
            kind={kind ?? 'main-act'}
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

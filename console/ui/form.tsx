import { useSignal } from '@preact/signals';
import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { type Problem, problemOf } from '../api/problem.ts';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';

interface Props {
  readonly act: string;
  readonly onSubmit: () => Promise<void>;
  /** The fields; handed what the service said of each, by its path. */
  readonly children: (wrong: (field: string) => string | undefined) => ComponentChildren;
  readonly onCancel?: () => void;
  readonly cancel?: string;
}

/** Fields and one act; it is done once at a time, and what fails stands at the field that it is about. */
export const Form = ({ act, onSubmit, children, onCancel, cancel }: Props) => {
  const busy = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  const submit = async () => {
    busy.value = true;
    problem.value = undefined;
    try {
      await onSubmit();
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
  const fields = problem.value?.fields ?? [];
  const shown = new Set<string>();
  const wrong = (field: string): string | undefined => {
    const found = fields.find((one) => one.field === field);
    if (found) shown.add(field);
    return found?.message;
  };
  const content = children(wrong);
  return (
    <form class="stack" onSubmit={onFormSubmit} aria-busy={busy.value}>
      {content}
      {problem.value && (fields.length === 0 || fields.some(({ field }) => !shown.has(field))) && (
        <ProblemNote problem={problem.value} />
      )}
      <div class="row">
        <Button type="submit" kind="main-act" disabled={busy.value}>
          {act}
        </Button>
        {onCancel && (
          <Button kind="plain" onClick={onCancel}>
            {cancel}
          </Button>
        )}
      </div>
    </form>
  );
};

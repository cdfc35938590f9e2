import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Button, isSecondClick } from './button.tsx';
import { problemText } from './problem-text.ts';
import { say } from './toast.tsx';

interface Props {
  readonly kind?: 'main-act' | 'danger' | 'plain';
  readonly label?: string;
  readonly onAct: () => Promise<void>;
  readonly children: ComponentChildren;
}

/** A button that acts immediately, one click at a time. It shows the service's error. */
export const Act = ({ kind, label, onAct, children }: Props) => {
  const busy = useSignal(false);
  const act = async () => {
    busy.value = true;
    try {
      await onAct();
    } catch (error) {
      say(problemText(error));
    } finally {
      busy.value = false;
    }
  };
  return (
    <Button
      {...(kind ? { kind } : {})}
      aria-label={label}
      aria-busy={busy.value}
      disabled={busy.value}
      onClick={({ detail }) => {
        if (!isSecondClick(detail)) void act();
      }}
    >
      {children}
    </Button>
  );
};

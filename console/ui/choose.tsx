import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../text/words.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface Props<T> {
  readonly title: string;
  readonly act: string;
  readonly kind?: 'plain';
  readonly onChoose: (value: T) => void;
  /** The list to choose from. */
  readonly children: (choose: (value: T) => void) => ComponentChildren;
}

/** A button that opens a dialog with a list. The dialog closes when a value is chosen. */
export const Choose = <T,>({ title, act, kind, onChoose, children }: Props<T>) => {
  const choosing = useSignal(false);
  const show = (is: boolean) => () => {
    choosing.value = is;
  };
  return (
    <>
      <Button {...(kind ? { kind } : {})} onClick={show(true)}>
        {act}
      </Button>
      {choosing.value && (
        <Dialog title={title} onClose={show(false)}>
          {children((value) => {
            choosing.value = false;
            onChoose(value);
          })}
          <div class="row">
            <Button onClick={show(false)}>{t.acts.cancel}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
};

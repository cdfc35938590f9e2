import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { wayBack } from './focus.ts';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question that comes first. Escape closes it, and the focus goes back to where it was. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  // Before it is in sight: one that turns modal later takes the focus away from the field that is typed into.
  useLayoutEffect(() => {
    const [shown, before] = [dialog.current, wayBack(document.activeElement)];
    shown?.showModal();
    return () => {
      gone.current = true;
      shown?.close();
      // One that is taken out of the page before it is closed gives nothing back by itself, nor to what is out of
      // sight.
      const { activeElement } = document;
      if (activeElement === document.body || shown?.contains(activeElement)) before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog stack"
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        if (gone.current) return;
        // A second Escape in a row closes it whatever the page says, which may have to ask first.
        dialog.current?.showModal();
        onClose();
      }}
    >
      <h1>{title}</h1>
      {children}
    </dialog>
  );
};

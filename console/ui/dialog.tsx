import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A question that comes first. Escape closes it, and the focus goes back to where it was. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before it is in sight: one that turns modal later takes the focus away from the field that is typed into.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  return (
    <dialog ref={dialog} class="dialog stack" aria-label={title} onCancel={onClose} onClose={onClose}>
      <h1>{title}</h1>
      {children}
    </dialog>
  );
};

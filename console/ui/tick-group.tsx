import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useMended } from './form.tsx';
import { type LabelledProps, namedBy } from './labelled.tsx';
import { Wrong } from './wrong.tsx';

interface Props extends Pick<LabelledProps, 'label' | 'wrong'> {
  readonly children: ComponentChildren;
}

/** Ticks that are one value together, and what is wrong with it until one of them changes. */
export const TickGroup = ({ label, wrong: said, children }: Props) => {
  const id = useId();
  const [unnamed, mend] = useMended(said);
  const wrong = namedBy(label, unnamed);
  return (
    <>
      <fieldset class="scopes" aria-describedby={wrong && id} onChange={mend}>
        <legend>{label}</legend>
        {children}
      </fieldset>
      <Wrong id={id} text={wrong} />
    </>
  );
};

import { useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { t } from '../../text/words.ts';
import { idIn, nameOf, refAddress } from './ref-address.ts';
import { RefPreview, RefTitle } from './ref-preview.tsx';

/** A link to a referenced document; none if the text is not an id. */
export const RefLink = ({ collectionName, id: text }: { readonly collectionName: string; readonly id: string }) => {
  const { projectId = '' } = useRoute().params;
  const id = idIn(text);
  return id === undefined ? null : (
    <a class="small" href={refAddress(projectId, collectionName, id)}>
      {t.documents.openRef(collectionName)}
    </a>
  );
};

/** The pointer rests so long on a reference before its document is shown. */
const restMs = 300;

interface RefProps {
  readonly collectionName: string;
  readonly value: unknown;
  /** The ids of all cells that refer to the collection, which are read together. */
  readonly ids: readonly string[];
}

/** A reference in one line: the title of its document as a link, and a preview under the pointer or focus. */
export const RefCell = ({ collectionName, value, ids }: RefProps) => {
  const { projectId = '' } = useRoute().params;
  const name = useId();
  const link = useRef<HTMLAnchorElement>(null);
  const shown = useSignal(false);
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const id = idIn(value);
  if (id === undefined) return null;
  // Users have no documents in the dashboard.
  const isKnown = collectionName !== 'users';
  const begin = () => {
    clearTimeout(resting.current);
    resting.current = setTimeout(() => {
      shown.value = isKnown && link.current?.isConnected === true;
    }, restMs);
  };
  const end = () => {
    clearTimeout(resting.current);
    shown.value = false;
  };
  const target = { projectId, collectionName, id };
  return (
    <>
      <a
        ref={link}
        href={refAddress(projectId, collectionName, id)}
        aria-describedby={shown.value ? name : undefined}
        onPointerEnter={begin}
        onPointerLeave={end}
        onFocus={begin}
        onBlur={end}
        onKeyDown={({ key }) => {
          if (key === 'Escape') end();
        }}
      >
        {typeof value === 'object' && value !== null ? (
          nameOf(value)
        ) : isKnown ? (
          <RefTitle {...target} ids={ids} />
        ) : (
          <span class="mono">{id}</span>
        )}
      </a>
      {shown.value && link.current && <RefPreview {...target} of={link.current} name={name} />}
    </>
  );
};

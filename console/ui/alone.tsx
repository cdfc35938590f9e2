import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Brand } from './brand.tsx';
import { useTitle } from './use-title.ts';

/** True inside the frame, which already has the main landmark and the logo. */
export const Framed = createContext(false);

/** A page for which nobody must be signed in: without the frame, or inside it. */
export const Alone = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => {
  useTitle(title);
  const isFramed = useContext(Framed);
  const Main = isFramed ? 'div' : 'main';
  return (
    <div class="alone">
      <Main class="card stack">
        {!isFramed && <Brand />}
        <h1>{title}</h1>
        {children}
      </Main>
    </div>
  );
};

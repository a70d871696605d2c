/** Where the page leads. The frame of the page provides it to all views. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export interface Leads {
  toExecution(id: string): void;
  /** Shows a saved program by its key. */
  toProgram(key: string): void;
  /** Shows a server by its name. */
  toServer(name: string): void;
  toServers(): void;
  /** Opens the code of an execution in the editor. */
  toEditor(id: string): void;
}

const nowhere = () => {};

export const LeadsContext = createContext<Leads>({
  toExecution: nowhere,
  toProgram: nowhere,
  toServer: nowhere,
  toServers: nowhere,
  toEditor: nowhere,
});

export const useLeads = (): Leads => useContext(LeadsContext);

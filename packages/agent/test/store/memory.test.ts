import { createMemoryStore } from "../../src/store/memory.ts";
import { testStoreContract } from "./store-contract.ts";

testStoreContract(createMemoryStore);

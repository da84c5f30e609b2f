package gateway

import "strings"

// patterns are method names, each with a * at its end at most.
type patterns struct {
	whole  map[string]bool
	begins []string
}

func newPatterns(list []string) patterns {
	p := patterns{whole: map[string]bool{}}
	for _, s := range list {
		if prefix, ok := strings.CutSuffix(s, "*"); ok {
			p.begins = append(p.begins, prefix)
		} else {
			p.whole[s] = true
		}
	}
	return p
}

func (p patterns) has(method string) bool {
	if p.whole[method] {
		return true
	}
	for _, b := range p.begins {
		if strings.HasPrefix(method, b) {
			return true
		}
	}
	return false
}

// once are the methods that are asked once (F10): those that change something,
// and those whose state lives on one node.
var once = newPatterns([]string{
	"eth_sendRawTransaction*", "eth_sendTransaction", "eth_sendUserOperation", "eth_sendBundle", "eth_sendPrivateTransaction",
	"eth_sendPrivateRawTransaction", "eth_cancel*", "eth_sign*", "eth_submit*", "eth_resend", "personal_*", "miner_*", "admin_*", "debug_set*",
	"engine_*", "mev_send*", "bor_send*", "linea_send*", "zks_send*", "anvil_*", "hardhat_*", "evm_*",
	"eth_newFilter", "eth_newBlockFilter", "eth_newPendingTransactionFilter", "eth_getFilterChanges", "eth_getFilterLogs", "eth_uninstallFilter",
	"eth_subscribe", "eth_unsubscribe",
	"sendTransaction", "sendBundle", "requestAirdrop", "sendrawtransaction", "sendtoaddress", "sendmany", "submitblock", "submitpackage", "generate*",
	"broadcast_*", "author_*", "starknet_add*", "sui_executeTransactionBlock", "send_tx", "sendTx*", "submit*", "issueTx", "wallet_*",
})

// repeatable says whether a method may be asked again, or of two upstreams at
// once (F10).
func repeatable(method string) bool { return !once.has(method) }
